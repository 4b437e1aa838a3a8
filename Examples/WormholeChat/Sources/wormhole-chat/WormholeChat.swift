internal import CoreAPI
internal import FileNotifyBackend
internal import Foundation
internal import Wormholes

@main
struct WormholeChat {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            return say("usage: wormhole-chat DIRECTORY NAME")
        }
        let (directory, name) = (CommandLine.arguments[1], CommandLine.arguments[2])
        let group = try await FileGroup.open(
            directory: directory, as: SessionDescription(role: SessionRole(rawValue: "chat"), name: name))
        let wormhole = Wormhole(group)
        // A participant's own lines stand on its screen already.
        let events = try await wormhole.listen(to: .chat, replay: .pending, from: .others)
        let listening = Task {
            for try await event in events { show(event) }
        }
        say("Welcome, \(name). Ctrl-D ends the chat.")
        for await text in Keyboard.lines() where !text.isEmpty {
            try await wormhole.send(ChatLine(name: name, text: text), to: .chat)
        }
        events.cancel()
        try await listening.value
        await group.close()
    }

    private static func show(_ event: MailboxEvent<ChatLine>) {
        switch event {
        case .message(let message): say("\(message.value.name): \(message.value.text)")
        case .cleared: say("(the chat was cleared)")
        case .undecodable(let problem, _, _): say("(\(problem))")
        case .lagged(let count): say("(\(count) lines were missed)")
        }
    }

    /// A line for the terminal, at once also where the output is a pipe.
    private static func say(_ line: String) {
        // Lines of other participants must not control the terminal.
        let harmless = String(String.UnicodeScalarView(line.unicodeScalars.map { $0.properties.isControl ? "·" : $0 }))
        FileHandle.standardOutput.write(Data((harmless + "\n").utf8))
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool { generalCategory == .control || generalCategory == .format }
}
