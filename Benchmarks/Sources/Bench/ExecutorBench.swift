internal import BackendRegistry
internal import BenchmarkRun
internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Measures the program that a push starts: the slim one where it knows the backend, else `sharedcore executor`.
final class ExecutorBench: Sendable {
    private let programs: BenchPrograms
    private let group: BackendConfiguration
    private let directory: String
    private let maildir: String
    private let number = Atomic(0)
    private let watcher = Mutex<(any SharedGroup)?>(nil)

    init(programs: BenchPrograms, group: BackendConfiguration, directory: String) throws {
        self.programs = programs
        self.group = group
        self.directory = directory
        maildir = directory + "/Maildir"
        for folder in ["tmp", "new", "cur"] {
            try FileManager.default.createDirectory(
                atPath: maildir + "/" + folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
    }

    func close() async {
        let handle = watcher.withLock { $0.take() }
        await handle?.close()
    }

    /// From the start of the program to the moment at which it owns and starts its core, by its own entry of the timeline.
    /// (That of its acquisition is part of the commit by which it owns, so its time is read before.)
    func start() async throws -> Double {
        let handle = try await watchedGroup()
        let callID = try nextCallID()
        try deliver(callID)
        let (program, arguments) = executor(for: callID)
        let run = try await programs.measure(program, arguments)
        let coreStart = try await Timeline(handle).history().records.last { record in
            record.entry.pid == run.pid && record.entry.kind == .coreStarted
        }
        guard let coreStart else { throw BenchFailure(.unavailable, "the Executor did not own") }
        return run.start.milliseconds(to: coreStart.entry.at)
    }

    /// The most memory that the program has when its message is there already.
    func memory() async throws -> Double {
        let callID = try nextCallID()
        let place = directory + "/memory-\(callID.text)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Data(Self.text.utf8).write(to: URL(filePath: place + "/" + callID.text))
        let main = try await programs.participant(.sharedcore, .main, in: directory, of: group, ["server=\(place)"])
        try main.send("own")
        try await main.hear("owning")
        let (program, arguments) = executor(for: callID)
        let run = try await programs.measure(program, arguments)
        try await main.finish()
        return run.megabytes
    }

    private func watchedGroup() async throws -> any SharedGroup {
        if let known = watcher.withLock({ $0 }) { return known }
        let opened = try await BackendRegistry.bundled().open(
            group, as: SessionDescription(role: .tool, name: "sharedcore bench"))
        watcher.withLock { $0 = opened }
        return opened
    }

    private static let text = "Réunion à 14 h, salle “Éole”."

    private func nextCallID() throws -> CallID {
        guard let callID = CallID("\(number.add(1, ordering: .relaxed).newValue).bench@sharedcore.example") else {
            throw BenchFailure(.unavailable, "there is no call-id")
        }
        return callID
    }

    /// Delivers a message as a mail transfer agent does: written to `tmp`, then moved to `new` in one step.
    private func deliver(_ callID: CallID) throws {
        let lines = [
            "From: =?utf-8?Q?Zo=C3=AB?= <zoe@sharedcore.example>", "To: Bench <bench@sharedcore.example>",
            "Subject: A message of the measurement", "Date: Mon, 02 Mar 2026 12:00:00 +0000",
            "Message-ID: <\(callID.text)>", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: base64", "", Data(Self.text.utf8).base64EncodedString(), "",
        ]
        // Not by Foundation: its descriptor is inherited by an Executor that is started meanwhile. A core leaves a
        // message alone while a process has it open for writing.
        let file = try OpenFile(path: maildir + "/tmp/" + callID.text, .createNew)
        try file.write(Array(lines.joined(separator: "\r\n").utf8), at: 0)
        try FileManager.default.moveItem(
            atPath: maildir + "/tmp/" + callID.text, toPath: maildir + "/new/" + callID.text)
    }

    private static let deadlineSeconds = 30

    /// Returns a program with its arguments. The user's configuration holds for it, except for the group, the Maildir,
    /// and a core that connects at once.
    private func executor(for callID: CallID) -> (String, [String]) {
        let durability = (group.durability ?? .process).rawValue
        guard group.backend != "file" else {
            return (
                programs.executor,
                [
                    "--directory", group.directory, "--call-id", callID.text, "--name", "bench", "--maildir",
                    maildir, "--timeout-ms", String(Self.deadlineSeconds * 1000), "--durability", durability,
                ]
            )
        }
        var variables = [
            "BACKEND": group.backend, "GROUP": group.group, "STATE_DIRECTORY": group.stateDirectory,
            "DURABILITY": durability,
            "CORE_MAILDIR": maildir, "CORE_START_DELAY": "0s",
        ]
        // The environment name of a setting is derived only where its name has no capital. The temporary group needs no
        // other: `zmq.secretKey`, `zmq.hubKey` and `zmq.clientKeys` are for ports.
        for (name, value) in group.settings where !name.contains(where: \.isUppercase) {
            variables[name.uppercased().replacing(".", with: "_")] = value
        }
        return (
            "/usr/bin/env",
            variables.map { "SHAREDCORE_\($0.key)=\($0.value)" } + [
                programs.host, "executor", "--json", "--call-id", callID.text, "--timeout",
                "\(Self.deadlineSeconds)s", "--log-level", "warning",
            ]
        )
    }
}
