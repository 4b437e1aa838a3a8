internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// A put with faults that begin after the group is open, so that they strike the commit alone.
extension Attempt {
    /// Puts a value that the program reads when it has opened the group; until then it waits, and strace attaches to
    /// it.
    ///
    /// - Parameters:
    ///   - byteCount: At most 60,000, which a pipe takes at once.
    ///   - options: Of the command, such as `--if-absent`.
    ///   - strace: The arguments of strace.
    ///   - meanwhile: Called when the group is open, before the faults begin.
    func putLate(
        _ key: String, number: UInt64, byteCount: Int = 40, options: [String] = [], strace arguments: [String],
        mayBeKilled: Bool = false, meanwhile: () async throws -> Void = {}
    ) async throws -> Answer {
        let value = Self.value(key, number, byteCount: byteCount)
        let pipe = newPath("value")
        // For reading too, so that neither this opening nor the child's waits for the other.
        guard mkfifo(pipe, 0o600) == 0 else { throw FileProblem(path: pipe, code: errno) }
        var writing: OpenFile? = try OpenFile(path: pipe, .write)
        let errors = newPath("errors")
        let words = ["--durability", "disk", "store", "put", key, "-"] + options
        let child = try start(
            words, through: ["sh", "-c", #"pipe=$0; exec "$@" <"$pipe""#, pipe], errors: errors)
        try await eventually("the program waits for the value") {
            child.ended != nil
                || Self.tasks(of: child.pid).contains { Self.text(ofFile: $0 + "/wchan").contains("pipe_read") }
        }
        try expect(child.ended == nil, "the group can be opened: \(Self.text(ofFile: errors))")
        try await meanwhile()
        let tracer = try ChildProcess("strace", arguments + ["-p", "\(child.pid)"], errors: newPath("strace"))
        try await eventually("strace is attached") {
            tracer.ended != nil
                || Self.tasks(of: child.pid).allSatisfy {
                    !Self.text(ofFile: $0 + "/status").contains("TracerPid:\t0\n")
                }
        }
        guard tracer.ended == nil else { throw HarnessLimitation("strace cannot attach to a process here") }

        try log.announce(key, value)
        let bytes = Array(value.utf8)
        guard let descriptor = writing?.descriptor, write(descriptor, bytes, bytes.count) == bytes.count else {
            throw FileProblem(path: pipe, code: errno)
        }
        // The end of the value.
        writing = nil
        let answer = try await end(of: child, words, errors: errors, mayBeKilled: mayBeKilled)
        _ = await tracer.end()
        if answer.isSuccess { try log.acknowledge(key, value) }
        return answer
    }

    /// The names of a process's threads.
    static func threadNames(of pid: Int32) -> [String] {
        tasks(of: pid).map { String(text(ofFile: $0 + "/comm").prefix { $0 != "\n" }) }
    }

    /// The directories of a process's threads.
    private static func tasks(of pid: Int32) -> [String] {
        TemporaryDirectory.names(in: "/proc/\(pid)/task").map { "/proc/\(pid)/task/\($0)" }
    }
}
