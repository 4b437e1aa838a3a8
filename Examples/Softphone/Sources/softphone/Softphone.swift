internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Foundation
internal import SIPCore

/// A telephone in the terminal: `softphone main`, the program that its user has open, and `softphone push`, the Executor
/// that a push starts. Both run the core of one account, one at a time.
@main
enum Softphone {
    static let usage = """
        usage: softphone main DIRECTORY                 the telephone; commands come from standard input
               softphone takeover DIRECTORY             the same, and takes the place of another one
               softphone push DIRECTORY CALL-ID         gets what the push announced: a message or a call
               softphone hold DIRECTORY                 owns for a telephone that rests
               softphone calls DIRECTORY                lists the calls of the group
               softphone answer|decline|hangup|hold|resume DIRECTORY CALL-ID
        DIRECTORY has the files “account” and “password”, and gets the group's folder.
        """

    static func main() async {
        do { try await run(Array(CommandLine.arguments.dropFirst())) } catch {
            FileHandle.standardError.write(Data("softphone: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        guard arguments.count >= 2 else { throw SoftphoneError(description: usage) }
        let directory = arguments[1]
        let callID = arguments.count > 2 ? CallID(arguments[2]) : nil
        switch (arguments[0], callID) {
        case ("main", nil), ("takeover", nil):
            try await MainProgram.run(in: directory, takingOver: arguments[0] == "takeover")
        case ("push", let callID?): try await PushProgram.run(callID, in: directory)
        case ("hold", nil): try await HolderProgram.run(in: directory)
        case ("calls", nil): try await CallProgram.list(in: directory)
        case (let word, let callID?):
            guard let command = CallProgram.command(word) else { fallthrough }
            try await CallProgram.send(command, to: callID, in: directory)
        default: throw SoftphoneError(description: usage)
        }
    }

    static func open(_ directory: String, as role: SessionRole) async throws -> any SharedStore {
        try await FileGroup.open(
            directory: directory + "/group", as: SessionDescription(role: role, name: "softphone"))
    }

    /// The account in the file `account`, with lines such as `user alice`.
    static func account(in directory: String) throws -> SIPAccount {
        let text = try String(contentsOf: URL(filePath: directory).appending(path: "account"), encoding: .utf8)
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ", maxSplits: 1)
            if words.count == 2 { values[String(words[0])] = String(words[1]) }
        }
        func value(_ name: String) throws -> String {
            guard let value = values[name] else {
                throw SoftphoneError(description: "“account” has no line “\(name)”.")
            }
            return value
        }
        let transport: SIPAccount.Transport =
            switch try value("transport") {
            case "udp": .udp
            case "tcp": .tcp
            case "tls": .tls(certificates: try value("certificates"), name: try value("registrar"))
            case let other: throw SoftphoneError(description: "“\(other)” is none of udp, tcp and tls.")
            }
        guard let port = UInt16(try value("port")), let seconds = Int(values["expires"] ?? "600") else {
            throw SoftphoneError(description: "“port” and “expires” are numbers.")
        }
        return SIPAccount(
            user: try value("user"), domain: try value("domain"),
            password: try SIPPassword(ofFile: directory + "/password"), registrar: try value("registrar"), port: port,
            transport: transport, instance: try value("instance"),
            push: values["pn-prid"].map { .init(provider: values["pn-provider"] ?? "softphone", identifier: $0) },
            expires: .seconds(seconds))
    }

    /// The options of all processes. A message waits for a day until a process shows it.
    static var options: CoordinationOptions {
        var options = CoordinationOptions()
        options.inboxLifetime = .seconds(24 * 3_600)
        return options
    }

    /// Shows a message that this process has in hand, and acknowledges it, also in a task that is cancelled: a process that
    /// ended in between would leave a message that was shown.
    static func show(_ taken: TakenMessage, of inbox: Inbox) async throws {
        say("\(taken.message.content.sender): \(taken.message.content.text)")
        _ = try await Task { try await inbox.acknowledge(taken) }.value
    }

    /// Shows the messages that no process has in hand.
    static func showAll(of inbox: Inbox) async throws {
        while let taken = try await inbox.take() { try await show(taken, of: inbox) }
    }

    /// The lines of standard input, read on a thread of their own, because reading blocks.
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine(), line != "quit" { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    /// Prints a line at once, also where a pipe is read.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func say(_ event: SIPTelephone.Event) {
        switch event {
        case .registered(let contacts, let all): say("registered: \(contacts) of \(all) contacts")
        case .registrationFailed(let status, let phrase): say("not registered: \(status) \(phrase)")
        case .unregistered(let status): say("unregistered: \(status)")
        case .message(let message): say("received: \(message.callID)")
        case .ringing(let id, let caller): say("rings: \(id) from \(caller)")
        case .continued(let id): say("goes on: \(id)")
        case .ended(let id, let reason, let sent, let received):
            say("ended: \(id) \(reason), \(sent) packets sent, \(received) received")
        }
    }

    /// A wrong command line or account file.
    struct SoftphoneError: Error, CustomStringConvertible {
        let description: String
    }
}
