package import CoreAPI
internal import Glibc
internal import Synchronization

/// A child process that is driven by lines: what it is sent, what it prints, its signals and its end. It is killed with the
/// last reference to it.
///
/// Its input and its output are one socket, so that a write to a process that has ended is an error and not a signal.
///
/// ```swift
/// let child = try ChildProcess("sharedcore-test-peer", [], input: true)
/// try child.send("get key")
/// let answer = try await child.nextLine(timeout: .seconds(30))
/// ```
package final class ChildProcess: Sendable {
    private struct Reader {
        let number: Int
        let continuation: CheckedContinuation<String?, any Error>
    }

    private struct State {
        var lines: [String] = []
        /// How many of the lines ``nextLine(timeout:)`` has returned.
        var taken = 0
        var lastReader = 0
        var readers: [Reader] = []
        /// Whether the process has ended and all that it printed is in `lines`.
        var isRead = false
        /// How it ended. Until this is known the process is not reaped, so that its number means it.
        var end: ProgramEnd?
        /// Whether it stays a zombie until the last reference goes.
        var staysZombie = false
        var waiting: [CheckedContinuation<ProgramEnd, Never>] = []
    }

    /// The part that the thread of the process holds, which must not keep the process alive.
    private final class Content: Sendable {
        let program: StartedProgram
        let process: ProcessHandle
        let connection: OpenFile
        let state = Mutex(State())

        init(_ program: StartedProgram, _ process: ProcessHandle, _ connection: OpenFile) {
            self.program = program
            self.process = process
            self.connection = connection
        }
    }

    private let content: Content
    private let isGroup: Bool

    /// `SOCK_CLOEXEC`, which is an enumerator that Swift does not see.
    private static let closeOnExec: Int32 = 0o2000000

    /// Starts a program in the working directory of this process.
    ///
    /// - Parameters:
    ///   - program: Its path, or a name that is looked up in `PATH`.
    ///   - environment: Variables that differ from those of this process; nil removes one.
    ///   - input: Whether it can be sent lines; its input is at its end otherwise.
    ///   - errors: The path of a file to which its standard error is appended; nil for that of this process.
    ///   - ownSession: Whether it leaves the terminal of this process. Signals then reach its process group.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], input: Bool = false,
        errors: String? = nil, ownSession: Bool = false
    ) throws(SystemCallError) {
        var ends: [Int32] = [0, 0]
        // Closed on exec from the start, since other tasks start processes at the same time.
        let type = Int32(SOCK_STREAM.rawValue) | Self.closeOnExec
        _ = try SystemCall.run("socketpair", at: program) { socketpair(AF_UNIX, type, 0, &ends) }
        let connection = OpenFile(owning: ends[0], path: "connection with \(program)")
        let output = OpenFile(owning: ends[1], path: "output of \(program)")
        let started = try StartedProgram(
            Self.path(of: program), arguments, variables: environment.compactMapValues { $0 },
            streams: [
                input ? output : OpenFile(path: "/dev/null", .read), output, Self.standardError(appendedTo: errors),
            ], directory: nil, ownSession: ownSession, omitting: Set(environment.keys))
        do throws(ProcessUnreachable) {
            guard let identity = ProcessIdentity(of: started.pid) else { throw .dead }
            content = Content(started, try ProcessHandle(identity), connection)
        } catch {
            started.kill()
            _ = try started.waitForEnd()
            throw SystemCallError("pidfd_open", number: ESRCH, at: "process \(started.pid)")
        }
        isGroup = ownSession
        do throws(SystemCallError) {
            try OwnedThread.start("child \(started.pid)") { [content] in Self.follow(content) }
        } catch {
            killNow()
            throw error
        }
    }

    deinit {
        signal(SIGKILL)
        content.state.withLock { state in
            state.staysZombie = false
            if state.isRead { Self.reap(content.program, &state) }
        }
    }

    private static func standardError(appendedTo path: String?) throws(SystemCallError) -> OpenFile {
        guard let path else { return try .standardError() }
        let file = try OpenFile(path: path, .create)
        try file.appendOnly()
        return file
    }

    /// Where the shell finds a program.
    private static func path(of program: String) -> String {
        guard !program.contains("/"), let folders = getenv("PATH") else { return program }
        return String(cString: folders).split(separator: ":").map { $0 + "/" + program }
            .first { access($0, X_OK) == 0 } ?? program
    }

    package var pid: Int32 { content.program.pid }

    /// Its number and its start, which no other process has.
    package var identity: ProcessIdentity { content.process.identity }

    // MARK: - Lines

    /// All lines that it has printed so far.
    package var lines: [String] { content.state.withLock(\.lines) }

    /// Sends lines. Blocks while the process has too many unread ones.
    ///
    /// - Throws: With EPIPE, or ECONNRESET where it left lines unread, when it has ended or closed its input.
    package func send(_ lines: String...) throws(SystemCallError) { try send(lines) }

    package func send(_ lines: [String]) throws(SystemCallError) {
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        var done = 0
        while done < bytes.count {
            done += try SystemCall.run("send", at: "process \(pid)") {
                bytes[done...].withUnsafeBytes {
                    Glibc.send(content.connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }

    /// Lets it read the end of its input.
    package func closeInput() {
        shutdown(content.connection.descriptor, Int32(SHUT_WR))
    }

    /// Waits for the first line that was not returned yet.
    ///
    /// - Returns: Nil when it has ended and all of its lines were returned.
    /// - Throws: ``LineTimeout`` at the limit, which takes no line; `CancellationError` when the task is cancelled.
    package func nextLine(timeout: Duration? = nil) async throws -> String? {
        let number = content.state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
        let clock = ContinuousClock()
        let deadline = timeout.map { clock.now.advanced(by: $0) }
        let tooLate = LineTimeout(pid: pid, timeout: timeout ?? .zero)
        let timer = deadline.map { deadline in
            Task { [content] in
                try await clock.sleep(until: deadline)
                Self.stopReading(number, of: content, tooLate)
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known: String?? = content.state.withLock { state in
                    if state.taken < state.lines.count {
                        defer { state.taken += 1 }
                        return state.lines[state.taken]
                    }
                    if state.isRead { return .some(nil) }
                    state.readers.append(Reader(number: number, continuation: continuation))
                    return nil
                }
                if let known { continuation.resume(returning: known) }
                // A cancellation or a timeout that came before the reader was there has found none.
                if known == nil, Task.isCancelled { Self.stopReading(number, of: content, CancellationError()) }
                if known == nil, let deadline, clock.now >= deadline { Self.stopReading(number, of: content, tooLate) }
            }
        } onCancel: {
            Self.stopReading(number, of: content, CancellationError())
        }
    }

    private static func stopReading(_ number: Int, of content: Content, _ error: any Error) {
        let reader = content.state.withLock { state in
            state.readers.firstIndex { $0.number == number }.map { state.readers.remove(at: $0) }
        }
        reader?.continuation.resume(throwing: error)
    }

    // MARK: - Its end

    /// Whether it is stopped, as after SIGSTOP.
    package var isStopped: Bool { identity.isStopped == true }

    /// Sends a signal, unless it has ended.
    package func signal(_ number: Int32) {
        // The process is reaped under the same lock, so the number cannot be another process's by now.
        content.state.withLock { state in
            if state.end == nil { Glibc.kill(isGroup ? -pid : pid, number) }
        }
    }

    /// Stops it as SIGSTOP does, and returns when it has stopped or ended, or the task is cancelled.
    package func freeze() async {
        signal(SIGSTOP)
        while !isStopped, !hasEnded, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
    }

    /// Whether it has ended, though not all of its lines may be there yet. A zombie has.
    package var hasEnded: Bool { content.process.hasEnded }

    /// How it ended, when all of its lines are there; nil until then.
    package var ended: ProgramEnd? { content.state.withLock { $0.isRead ? $0.end : nil } }

    /// Waits for its end, also when the task is cancelled.
    package func end() async -> ProgramEnd {
        await withCheckedContinuation { continuation in
            let end: ProgramEnd? = content.state.withLock { state in
                if state.isRead { return state.end ?? .killed(by: SIGKILL) }
                state.waiting.append(continuation)
                return nil
            }
            if let end { continuation.resume(returning: end) }
        }
    }

    /// Kills it and returns when it is reaped. Blocks for as long as the system takes to end it.
    package func killNow() {
        signal(SIGKILL)
        while !Poll.wait(for: [content.process.descriptor], timeout: nil)[0] {}
        content.state.withLock { Self.reap(content.program, &$0) }
    }

    /// Kills it and leaves it unreaped until the last reference goes.
    package func killLeavingZombie() {
        content.state.withLock { $0.staysZombie = true }
        signal(SIGKILL)
    }

    private static func reap(_ program: StartedProgram, _ state: inout State) {
        // It cannot fail: the process is a child that nothing else waits for.
        if state.end == nil { state.end = (try? program.reap()) ?? .killed(by: SIGKILL) }
    }

    // MARK: - Its thread

    private static func follow(_ content: Content) {
        var rest: [UInt8] = []
        var isOpen = true
        while true {
            let ready = Poll.wait(
                for: [content.process.descriptor] + (isOpen ? [content.connection.descriptor] : []), timeout: nil)
            // By then the socket has all that the process itself wrote. A child that it left is not waited for.
            let hasEnded = ready[0]
            if isOpen, hasEnded || ready[1] { isOpen = receive(&rest, content) }
            if hasEnded { break }
        }
        let (readers, waiting, end) = content.state.withLock { state in
            if !state.staysZombie { reap(content.program, &state) }
            state.isRead = true
            defer { (state.readers, state.waiting) = ([], []) }
            return (state.readers, state.waiting, state.end)
        }
        for reader in readers { reader.continuation.resume(returning: nil) }
        for continuation in waiting { continuation.resume(returning: end ?? .killed(by: SIGKILL)) }
    }

    /// Takes in what has come.
    ///
    /// - Returns: Whether more can come.
    private static func receive(_ rest: inout [UInt8], _ content: Content) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(content.connection.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            // Only what is new is looked through: a line may have megabytes.
            var pieces = buffer[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
            while pieces.count > 1, let piece = pieces.popFirst() {
                let line = String(decoding: rest + piece, as: UTF8.self)
                rest = []
                add(line, content)
            }
            rest += pieces.first ?? []
        }
    }

    private static func add(_ line: String, _ content: Content) {
        let reader: Reader? = content.state.withLock { state in
            state.lines.append(line)
            guard !state.readers.isEmpty else { return nil }
            state.taken += 1
            return state.readers.removeFirst()
        }
        reader?.continuation.resume(returning: line)
    }
}

/// A child process printed no line in time.
package struct LineTimeout: Error, CustomStringConvertible {
    package let pid: Int32
    package let timeout: Duration

    package var description: String { "Process \(pid) printed no line within \(timeout)." }
}
