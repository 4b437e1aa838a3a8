internal import CLinux
internal import CoreAPI
internal import Glibc

/// A program that this process has started and waits for.
package struct StartedProgram: Sendable {
    /// The process of the program, opened with its start. It stays valid after the process has ended and was reaped.
    package let handle: ProcessHandle
    /// The process number of the program, which belongs to this program until it was reaped.
    package var pid: Int32 { handle.identity.pid }

    /// The time that a start waits for a child to run its program.
    package static let startTimeout = Duration.seconds(1)

    /// Starts a program. It inherits only its streams, and no signal is blocked in it, even if the calling thread
    /// blocks some.
    ///
    /// Returns when the program runs, or after ``startTimeout`` if the child does not run it yet, because it is stopped
    /// or the machine is slow. Such a child counts as started: it can be signalled, and if it cannot run the program it
    /// ends with status 127, if a file is missing, or 126.
    ///
    /// - Parameters:
    ///   - path: The program's absolute path.
    ///   - arguments: Its arguments, without its own name.
    ///   - variables: The variables of its environment that differ from this process's.
    ///   - streams: Its descriptors, from 0 on.
    ///   - directory: Its working directory; nil for that of this process.
    ///   - ownSession: Whether it leaves this process's terminal and group, as a daemon does.
    ///   - endsWithThread: Whether the kernel kills it when the calling thread ends, and so with this process.
    ///   - omitted: Variables of this process's environment that it does not inherit.
    ///   - inherited: The variables of this process's environment that it inherits; nil for all except `omitted`.
    package init(
        _ path: String, _ arguments: [String], variables: [String: String] = [:], streams: [OpenFile],
        directory: String? = "/", ownSession: Bool = false, endsWithThread: Bool = false,
        omitting omitted: Set<String> = [], inheriting inherited: Set<String>? = nil
    ) throws(SystemCallError) {
        var duplicates: [OpenFile] = []
        for stream in streams {
            // Duplicated beyond their final numbers, so that none is overwritten before its turn.
            let number = try SystemCall.negated("fcntl(F_DUPFD_CLOEXEC)", at: stream.path) {
                clinux_duplicate(stream.descriptor, Int32(streams.count))
            }
            duplicates.append(OpenFile(owning: number, path: stream.path))
        }
        let words = ([path] + arguments).map { strdup($0) }
        let pairs = Self.environment(with: variables, without: omitted, inheriting: inherited).map(\.duplicatedCString)
        defer { for word in words + pairs { free(word) } }
        handle = try Self.start(
            path, words, pairs, duplicates.map(\.descriptor), directory: directory,
            (ownSession ? CLINUX_OWN_SESSION : 0) | (endsWithThread ? CLINUX_ENDS_WITH_THREAD : 0))
        withExtendedLifetime(duplicates) {}
    }

    /// Starts a program with this process's streams, in its directory and process group. The kernel kills it when the
    /// calling thread ends. Otherwise as
    /// ``init(_:_:variables:streams:directory:ownSession:endsWithThread:omitting:inheriting:)``.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments, byte by byte and without its own name.
    ///   - variables: The variables of its environment that differ from this process's.
    ///   - kept: A further file that it has open, under the same number.
    init(
        inPlaceOfThis path: String, _ arguments: [[UInt8]], variables: [String: String] = [:], keeping kept: OpenFile
    ) throws(SystemCallError) {
        let words = ([Array(path.utf8)] + arguments).map(\.duplicatedCString)
        let pairs = Self.environment(with: variables).map(\.duplicatedCString)
        defer { for word in words + pairs { free(word) } }
        handle = try Self.start(
            path, words, pairs, [kept.descriptor], directory: nil, CLINUX_KEEPS_STREAMS | CLINUX_ENDS_WITH_THREAD)
        withExtendedLifetime(kept) {}
    }

    private static func start(
        _ path: String, _ words: [UnsafeMutablePointer<CChar>?], _ pairs: [UnsafeMutablePointer<CChar>?],
        _ streams: [Int32], directory: String?, _ options: Int32
    ) throws(SystemCallError) -> ProcessHandle {
        let (handle, report) = try fork(path, words, pairs, streams, directory: directory, options)
        guard let failure = failure(in: report) else { return handle }
        // The program is about to end, unless it is stopped.
        _ = try? handle.signal(.kill)
        let pid = handle.identity.pid
        // If SIGCHLD is ignored the kernel reaps the child, and reports that there is none.
        _ = try? SystemCall.negated("waitpid", at: "process \(pid)") { clinux_wait_for_child(pid) }
        throw SystemCallError(String(cString: failure.call), number: failure.number, at: path)
    }

    /// Creates the child. When this returns, only the child has the writing end of its report.
    private static func fork(
        _ path: String, _ words: [UnsafeMutablePointer<CChar>?], _ pairs: [UnsafeMutablePointer<CChar>?],
        _ streams: [Int32], directory: String?, _ options: Int32
    ) throws(SystemCallError) -> (ProcessHandle, report: OpenFile) {
        let pipe = try Pipe()
        let count = Int32(streams.count)
        let report = OpenFile(
            owning: try SystemCall.negated("fcntl(F_DUPFD_CLOEXEC)", at: "pipe") {
                clinux_duplicate(pipe.input.descriptor, count)
            }, path: "pipe")
        let faults =
            (FailPoint.failure(of: "start.beforeExec", at: path) == nil ? 0 : CLINUX_STOPS_BEFORE_EXEC)
            | (FailPoint.failure(of: "close_range", at: path) == nil ? 0 : CLINUX_LACKS_CLOSE_RANGE)
        var descriptor: Int32 = -1
        let pid = try SystemCall.negated("clone", at: path) {
            clinux_start_program(
                path, words + [nil], pairs + [nil], streams, count, directory, options | faults, report.descriptor,
                &descriptor)
        }
        do throws(SystemCallError) {
            guard descriptor >= 0 else {
                throw SystemCallError("clone(CLONE_PIDFD)", number: EOPNOTSUPP, at: path)
            }
            return (try ProcessHandle(owning: descriptor, ofChild: pid), pipe.output)
        } catch {
            // The child cannot be supervised, so it is killed. It has not been reaped, so the process id is still its
            // own.
            Glibc.kill(pid, SIGKILL)
            _ = try? SystemCall.negated("waitpid", at: "process \(pid)") { clinux_wait_for_child(pid) }
            throw error
        }
    }

    /// Waits, for at most ``startTimeout``, until a child runs its program or reports a failure.
    private static func failure(in report: OpenFile) -> clinux_start_failure? {
        let deadline = ContinuousClock.now.advanced(by: startTimeout)
        guard Poll.wait(for: [report.descriptor], until: deadline)[0] else { return nil }
        var failure = clinux_start_failure()
        let size = MemoryLayout<clinux_start_failure>.size
        return read(report.descriptor, &failure, size) == size ? failure : nil
    }

    /// Ends it at once.
    package func kill() {
        _ = try? handle.signal(.kill)
    }

    /// Ends at once the rest of the program's process group, if it was started in a session of its own. Call it only
    /// after the program has ended and before it is reaped, while the number belongs to the program.
    package func endGroup() {
        Glibc.kill(-pid, SIGKILL)
    }

    /// Waits for its end, once. Blocks.
    ///
    /// - Returns: The exit status, or 128 and the number of the signal that ended it.
    package func waitForEnd() throws(SystemCallError) -> Int32 {
        try SystemCall.negated("waitpid", at: "process \(pid)") { clinux_wait_for_child(pid) }
    }

    /// Waits for its end, once, and kills it at a deadline. Blocks until then.
    ///
    /// - Returns: The same as ``waitForEnd()``; nil if it was killed because it had not ended; ``unknownStatus`` if
    ///   this process ignores SIGCHLD.
    /// - Throws: Also if it may not be killed.
    package func waitForEnd(
        until deadline: ContinuousClock.Instant
    ) throws(SystemCallError) -> Int32? {
        let isInTime = Poll.wait(for: [handle.descriptor], until: deadline)[0]
        if !isInTime { try handle.signal(.kill) }
        let status: Int32
        do throws(SystemCallError) {
            status = try waitForEnd()
        } catch {
            // The kernel has reaped it: it has ended.
            guard error.number == ECHILD else { throw error }
            status = Self.unknownStatus
        }
        return isInTime ? status : nil
    }

    /// The status of an ended program if the system does not report it.
    package static let unknownStatus: Int32 = -1

    /// Waits for its end, once, and distinguishes a status from a signal. Blocks.
    package func reap() throws(SystemCallError) -> ProgramEnd {
        var signal: Int32 = 0
        let status = try SystemCall.negated("waitpid", at: "process \(pid)") { clinux_reap(pid, &signal) }
        return signal == 0 ? .exited(status) : .killed(by: signal)
    }

    /// Returns this process's environment as bytes, with some variables replaced.
    static func environment(
        with variables: [String: String], without omitted: Set<String> = [], inheriting inherited: Set<String>? = nil
    ) -> [[UInt8]] {
        let others = OwnProcess.environment.filter { entry in
            // None of the three sets can contain a name that is not UTF-8.
            guard let name = String(validating: entry.name, as: UTF8.self) else { return inherited == nil }
            return variables[name] == nil && !omitted.contains(name) && inherited?.contains(name) != false
        }
        return others.map { $0.name + [UInt8(ascii: "=")] + $0.value }
            + variables.sorted { $0.key < $1.key }.map { Array("\($0.key)=\($0.value)".utf8) }
    }
}

/// How a program ended.
package enum ProgramEnd: Hashable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case killed(by: Int32)

    /// A phrase that follows the subject of a sentence about the end.
    package var description: String {
        switch self {
        case .exited(let status): "exited with status \(status)"
        case .killed(by: let signal): "was killed by signal \(signal)"
        }
    }
}
