internal import CoreAPITesting
internal import FoundationEssentials
internal import Subprocess
internal import TestSupport
internal import Testing

/// A host that a test runs, in a directory of its own.
struct ServingHost: Sendable {
    let program: HostProgram
    let running: RunningProgram

    /// Runs a host while `body` observes it, then stops it with SIGTERM. Unless the test says otherwise its Executors
    /// have an hour: on a busy machine the usual 30 s may be over before the test has seen the expected event.
    @discardableResult
    static func serve(
        _ program: HostProgram, _ arguments: String...,
        body: @escaping @Sendable (ServingHost) async throws -> Void
    ) async throws -> HostProgram.Ended {
        var patient = program
        if program.environment[Self.budget] == nil { patient.environment[Self.budget] = "1h" }
        return try await patient.running(["serve", "--json"] + arguments) { running in
            let host = ServingHost(program: program, running: running)
            try await host.until("it serves") { $0["event"] == .text("serving") }
            try await body(host)
            try running.send(.terminate)
        }
    }

    private static let budget = "SHAREDCORE_EXECUTOR_BUDGET"

    /// The events so far.
    func events(_ kind: String) throws -> [[String: JSONField]] {
        try running.objects().filter { $0["event"] == .text(kind) }
    }

    /// Waits for an event.
    @discardableResult
    func until(
        _ what: String, _ isMeant: @escaping @Sendable ([String: JSONField]) -> Bool
    ) async throws -> [String: JSONField] {
        try await eventually(
            "\(what), not \(running.output.lines); errors: \(running.errors.lines)", timeout: TestTimeout.long
        ) {
            try running.objects().contains(where: isMeant)
        }
        return try #require(try running.objects().first(where: isMeant))
    }

    /// The line that an Executor has printed.
    func printed(_ end: [String: JSONField]) throws -> String {
        guard case .text(let line) = end["printed"] else { throw NothingPrinted(end: end) }
        return line
    }

    /// Waits for an event about a push.
    @discardableResult
    func until(_ kind: String, of callID: String) async throws -> [String: JSONField] {
        try await until("“\(kind)” of \(callID)") { $0["event"] == .text(kind) && $0["callID"] == .text(callID) }
    }

    /// Waits until so many pushes are served.
    func untilServed(_ count: Int) async throws {
        try await eventually(
            "\(count) pushes served; errors: \(running.errors.lines.suffix(5))", timeout: TestTimeout.long
        ) {
            try events("served").count >= count
        }
    }
}

/// An Executor that printed nothing.
struct NothingPrinted: Error {
    let end: [String: JSONField]
}

extension HostProgram {
    /// Puts a message into the Maildir of the group `default`.
    func deliver(_ callID: String, text: String = "Hello", to folder: String = "state/sharedcore/default/Maildir")
        throws
    {
        try makeGroupDirectory()
        try makeDirectory(folder + "/new")
        try makeDirectory(folder + "/tmp")
        let name = callID.filter { $0.isLetter || $0.isNumber }
        try write(
            "From: Zoe <zoe@example.org>\r\nTo: me@example.org\r\nMessage-ID: <\(callID)>\r\n\r\n\(text)\r\n",
            to: folder + "/tmp/" + name)
        try FileManager.default.moveItem(
            atPath: directory.path(of: folder + "/tmp/" + name), toPath: directory.path(of: folder + "/new/" + name))
    }

    /// Makes the directory of the group `default`. It is the user's alone, whichever process makes it.
    func makeGroupDirectory() throws {
        try makeDirectory("state/sharedcore/default")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700], ofItemAtPath: directory.path(of: "state/sharedcore/default"))
    }

    /// The counts of pushes in `status`.
    func pushes() async throws -> [String: JSONField] {
        let status = try await run("status", "--json")
        guard case .object(let pushes) = try status.objects().first?["pushes"] else {
            throw ProgramStood(arguments: ["status"], output: [status.output], errors: [status.errors])
        }
        return pushes
    }

    /// Waits until the group has no push any more.
    func untilNoPushWaits() async throws {
        try await eventually("no push waits", timeout: TestTimeout.long) {
            let pushes = try await pushes()
            return pushes["waiting"] == .number(0) && pushes["taken"] == .number(0)
        }
    }
}
