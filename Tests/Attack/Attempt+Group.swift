internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// The commands that every scenario uses, and the expected results.
extension Attempt {
    /// The value number `number` of a key: letters that no other value begins with.
    static func value(_ key: String, _ number: UInt64, byteCount: Int) -> String {
        var random = SeededRandom(seed: number)
        var bytes = Array("\(key)x\(number)x".utf8)
        while bytes.count < byteCount { bytes.append(UInt8(ascii: "a") + UInt8(random.next() % 26)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Puts a value and logs the acknowledgement.
    @discardableResult
    func put(
        _ key: String, number: UInt64, byteCount: Int = 40, options: [String] = ["--durability", "disk"],
        through prefix: [String] = [], killedAfter: Duration? = nil, mayBeKilled: Bool = false
    ) async throws -> Answer {
        let value = Self.value(key, number, byteCount: byteCount)
        try log.announce(key, value)
        let answer = try await run(
            ["store", "put", key, value] + options, through: prefix, killedAfter: killedAfter, mayBeKilled: mayBeKilled)
        if answer.isSuccess { try log.acknowledge(key, value) }
        return answer
    }

    /// Deletes a key and logs the acknowledgement.
    @discardableResult
    func delete(_ key: String, killedAfter: Duration? = nil) async throws -> Answer {
        try log.announce(key, nil)
        let answer = try await run(["store", "delete", key], killedAfter: killedAfter)
        if answer.isSuccess { try log.acknowledge(key, nil) }
        return answer
    }

    /// Reads all entries in a new process.
    func entries(through prefix: [String] = []) async throws -> [String: String] {
        let answer = try await run(["store", "list", "--json"], through: prefix)
        // Every writer may have been killed before it had made the group, or half of it.
        if !answer.isSuccess, log.acknowledgedCount == 0 { return [:] }
        try expect(answer.isSuccess, "the entries can be read; \(answer.summary)")
        var found: [String: String] = [:]
        for line in answer.lines {
            // {"key":"a","value":"b",…}: keys and values here are letters and digits.
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            try expect(parts.count > 7, "the line “\(line.prefix(80))” is an entry")
            found[String(parts[3])] = String(parts[7])
        }
        return found
    }

    /// Demands that a new process finds every acknowledged write, whole.
    func verify(through prefix: [String] = []) async throws {
        try log.verify(try await entries(through: prefix))
    }

    /// Demands success of a command.
    func demand(_ arguments: String..., through prefix: [String] = []) async throws {
        let answer = try await run(arguments, through: prefix)
        try expect(answer.isSuccess, "the group works; \(answer.summary)")
    }

    /// Checks that all data is there and everything works, now that the cause of the trouble has been removed.
    func verifyRecovery() async throws {
        try await verify()
        // Before everything else: a fault may have prevented the creation of the group, and this creates it.
        let answer = try await put("recovered", number: seed &+ UInt64(log.acknowledgedCount), byteCount: 5000)
        try expect(answer.isSuccess, "a put works again; \(answer.summary)")
        try await demand("status")
        try await demand("exclusive", "--role", "main", "--", "true")
        try await verify()
        try witness.verify()
        try expect(names.filter { $0.hasSuffix(".new") }, is: [], "leftovers of files that were never finished")
    }

    /// Starts a core that runs until it is ended, and waits until it runs.
    func own(_ role: String, options: [String] = [], through prefix: [String] = []) async throws -> ChildProcess {
        let errors = newPath("errors")
        let child = try start(
            ["exclusive", "--role", role] + options + ["--"] + witness.command, through: prefix, errors: errors)
        try await eventually("the \(role) owns", timeout: .seconds(30)) {
            child.lines.contains("owning") || child.ended != nil
        }
        try expect(
            child.lines.contains("owning"), "the \(role) owns; it ended: \(Self.text(ofFile: errors).suffix(600))")
        return child
    }

    /// True if a host of the group listens at its push socket. The socket lies in a directory of the group's own, below
    /// the runtime directory.
    var hasPushSocket: Bool {
        let runtime = directory + "/sharedcore"
        return TemporaryDirectory.names(in: runtime).contains {
            TemporaryDirectory.names(in: "\(runtime)/\($0)").contains("push")
        }
    }

    /// Starts a writer that is stopped inside its commit, with the journal's lock.
    func frozenWriter() async throws -> ChildProcess {
        let trace = newPath("trace")
        let stop = Fault(call: "pwrite64", kind: .stop, occurrence: 1)
        let frozen = try start(
            ["notify", "post", "name"], through: ["strace", "-D"] + Fault.arguments(for: [stop], output: trace))
        try await eventually("a writer is frozen") {
            frozen.ended != nil || Self.text(ofFile: trace).contains("stopped by SIGSTOP")
        }
        return frozen
    }

    /// Ends a process and waits for its end.
    func kill(_ child: ChildProcess, with signal: ProcessSignal = .kill) async throws {
        countFaults()
        child.signal(signal)
        _ = try await end(of: child, ["process \(child.pid)"], mayBeKilled: true)
    }
}
