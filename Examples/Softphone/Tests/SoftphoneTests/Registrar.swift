import Foundation
import Testing

/// The kamailio that Scripts/try-sip has started, and its bindings.
enum Registrar {
    static let variables = ProcessInfo.processInfo.environment
    static let directory = variables["SOFTPHONE_REGISTRAR"] ?? ""
    static var isThere: Bool { !directory.isEmpty }
    static var port: String { variables["SOFTPHONE_PORT"] ?? "" }
    static var tlsPort: String { variables["SOFTPHONE_TLS_PORT"] ?? "" }
    /// A network namespace for a telephone, with the address of the registrar there, that of a telephone, and the link
    /// to it; nil without root.
    static var network: (namespace: String, address: String, telephone: String, link: String)? {
        guard let namespace = variables["SOFTPHONE_NAMESPACE"], let address = variables["SOFTPHONE_ADDRESS"],
            let telephone = variables["SOFTPHONE_TELEPHONE"], let link = variables["SOFTPHONE_LINK"]
        else { return nil }
        return (namespace, address, telephone, link)
    }
    static let password = "Quince-4711-Teapot"

    /// The contacts that are bound for a user.
    static func contacts(of user: String) throws -> [String] {
        let (_, text) = try Command.run(
            "kamcmd", "-s", "unix:\(directory)/ctl", "ul.lookup", "location", "\(user)@sc.test")
        return text.split(separator: "\n").compactMap { line in
            let line = line.trimmingCharacters(in: .whitespaces)
            return line.hasPrefix("Address: ") ? String(line.dropFirst("Address: ".count)) : nil
        }
    }

    /// Binds a far end that answers, which registers nothing itself.
    static func bind(_ user: String, to port: UInt16) throws {
        let (status, text) = try Command.run(
            "kamcmd", "-s", "unix:\(directory)/ctl", "ul.add", "location", "\(user)@sc.test",
            "sip:\(user)@127.0.0.1:\(port)", "60", "1.0", "s:0", "0", "0", "4294967295")
        try #require(status == 0 && !text.contains("error"), "\(text)")
    }

    /// Removes the contacts of a user, which does not learn of it.
    static func forget(_ user: String) throws {
        let (status, text) = try Command.run(
            "kamcmd", "-s", "unix:\(directory)/ctl", "ul.rm", "location", "\(user)@sc.test")
        try #require(status == 0 && !text.contains("error"), "\(text)")
    }

    /// The number of messages that are stored for a user.
    static func stored(for user: String) throws -> Int? {
        let query = "select count(*) from silo where username = '\(user)'"
        let (_, text) = try Command.run("sqlite3", "\(directory)/messages.db", query)
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Ends the registrar with its workers at once, as a crash of its machine does. It loses the contacts, and keeps the
    /// messages.
    static func kill9() throws {
        let pid = try String(contentsOfFile: "\(directory)/pid", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let (_, workers) = try Command.run("pgrep", "-P", pid)
        let all = try ([pid] + workers.split(separator: "\n").map(String.init)).map { try #require(Int32($0)) }
        FileManager.default.createFile(atPath: "\(directory)/down", contents: nil)
        for process in all { kill(process, SIGKILL) }
        try #require(until { all.allSatisfy { hasEnded($0) } })
    }

    /// True if no such process is there, or one that is over and that its parent has not read.
    private static func hasEnded(_ pid: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
        return text.contains(") Z ")
    }

    /// Has Scripts/try-sip start the registrar anew: a child of the tests would have their blocked signals.
    static func start() throws {
        try FileManager.default.removeItem(atPath: "\(directory)/down")
        let isUp = try until { try Command.run("kamcmd", "-s", "unix:\(directory)/ctl", "core.uptime").status == 0 }
        try #require(isUp, "kamailio does not start")
    }

    /// Has pushes for a user start an Executor.
    static func wake(_ phone: Phone) throws {
        try Data(phone.directory.utf8).write(to: URL(filePath: "\(directory)/wake/\(phone.user)"))
    }
}

/// A program that runs to its end.
enum Command {
    @discardableResult
    static func run(_ words: String...) throws -> (status: Int32, output: String) { try run(words) }

    @discardableResult
    static func run(_ words: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}

/// A far end: one scenario of sipp.
final class FarEnd {
    private let process = Process()
    private let folder: URL
    let callID: String

    /// Calls a user, or sends the user a message.
    convenience init(_ scenario: String, to user: String, callID: String) throws {
        try self.init(
            scenario, callID: callID + "-1@bob",
            ["127.0.0.1:\(Registrar.port)", "-s", user, "-cid_str", callID + "-%u@bob"])
    }

    /// Answers a call to a user.
    convenience init(_ scenario: String, as user: String) throws {
        let port = try UDPSocket().port
        try Registrar.bind(user, to: port)
        try self.init(scenario, callID: "", ["-p", "\(port)"])
    }

    private init(_ scenario: String, callID: String, _ words: [String]) throws {
        self.callID = callID
        folder = FileManager.default.temporaryDirectory.appending(path: "far-end-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let scenarios = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scenarios")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [
                "sipp", "-sf", scenarios.appending(path: scenario + ".xml").path, "-m", "1", "-i", "127.0.0.1", "-t",
                "u1",
                "-rtp_echo", "-nostdin",
                "-mp", "\(Int.random(in: 20_000..<30_000) / 2 * 2)",
                "-timeout", "25", "-trace_err", "-error_file", folder.appending(path: "errors").path,
            ] + words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    /// Waits for the end of the scenario, and returns whether all of its steps succeeded.
    func succeeds() -> Bool {
        process.waitUntilExit(atMost: 40)
        if process.terminationStatus != 0 {
            let text = (try? String(contentsOf: folder.appending(path: "errors"), encoding: .utf8)) ?? ""
            Issue.record("sipp ended with \(process.terminationStatus): \(text.prefix(600))")
        }
        try? FileManager.default.removeItem(at: folder)
        return process.terminationStatus == 0
    }
}

/// A telephone: its folder, and the programs that run on it.
final class Phone {
    static let program = ProcessInfo.processInfo.environment["SOFTPHONE_PROGRAM"] ?? ""

    let user: String
    let directory: String

    init(_ user: String, transport: String = "tcp", password: String = Registrar.password, lines: [String] = []) throws
    {
        self.user = user + String(UInt32.random(in: 1_000..<9_999))
        directory = FileManager.default.temporaryDirectory.appending(path: "phone-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let account =
            [
                "user \(self.user)", "domain sc.test", "registrar 127.0.0.1",
                "port \(transport == "tls" ? Registrar.tlsPort : Registrar.port)", "transport \(transport)",
                "instance urn:uuid:\(UUID().uuidString.lowercased())", "pn-provider softphone", "pn-prid \(self.user)",
                "expires 60",
            ] + lines
        try Data((account.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: directory + "/account"))
        FileManager.default.createFile(
            atPath: directory + "/password", contents: Data((password + "\n").utf8),
            attributes: [.posixPermissions: 0o600])
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func main() throws -> Running { try Running(["main", directory], in: directory, named: "main") }
    func main(in namespace: String) throws -> Running {
        try Running(["main", directory], in: directory, named: "main", namespace: namespace)
    }
    func takeOver() throws -> Running { try Running(["takeover", directory], in: directory, named: "takeover") }
    func push(_ callID: String) throws -> Running {
        try Running(["push", directory, callID], in: directory, named: "push")
    }
    @discardableResult
    func command(_ word: String, _ callID: String) throws -> Int32 {
        try Command.run(Self.program, word, directory, callID).status
    }
    func calls() throws -> String { try Command.run(Self.program, "calls", directory).output }

    /// The output of the Executor that a push has started.
    func pushed(_ callID: String) -> String {
        (try? String(contentsOfFile: "\(directory)/pushed-\(callID)", encoding: .utf8)) ?? ""
    }
}

/// A program that runs, with its output.
final class Running {
    private let process = Process()
    private let input = Pipe()
    private let path: String

    init(_ words: [String], in directory: String, named name: String, namespace: String? = nil) throws {
        path = "\(directory)/\(name)-\(UUID()).log"
        FileManager.default.createFile(atPath: path, contents: nil)
        let log = try #require(FileHandle(forWritingAtPath: path))
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = (namespace.map { ["ip", "netns", "exec", $0] } ?? []) + [Phone.program] + words
        process.standardInput = input
        process.standardOutput = log
        process.standardError = log
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    var isRunning: Bool { process.isRunning }
    var pid: Int32 { process.processIdentifier }
    var output: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    func says(_ text: String, within seconds: Double = 20) throws {
        try #require(until(seconds) { output.contains(text) }, "it does not say “\(text)”, but: \(output)")
    }
    func type(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }
    func quit() -> Int32 {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit(atMost: 60)
        return process.terminationStatus
    }
    func wait() -> Int32 {
        process.waitUntilExit(atMost: 60)
        return process.terminationStatus
    }
    func kill9() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// Waits for a condition.
func until(_ seconds: Double = 20, _ condition: () throws -> Bool) rethrows -> Bool {
    let limit = Date().addingTimeInterval(seconds)
    while Date() < limit {
        if try condition() { return true }
        usleep(50_000)
    }
    return try condition()
}

extension String {
    func count(of part: String) -> Int { components(separatedBy: part).count - 1 }
}

extension Process {
    /// Waits for the end of the process, and kills it after the time.
    func waitUntilExit(atMost seconds: Double) {
        if !until(seconds, { !isRunning }) { kill(processIdentifier, SIGKILL) }
        waitUntilExit()
    }
}
