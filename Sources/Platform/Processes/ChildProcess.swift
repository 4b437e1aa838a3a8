package import CoreAPI
internal import Glibc
internal import Synchronization

/// A child process that is read line by line, and written line by line if it was started with `input: true`.
///
/// The child is killed when the last reference to this object is released, and by the kernel when this process ends,
/// even if the child is suspended (SIGSTOP). With `input: true` its input and output are one socket, so a write to an
/// ended process is an error and raises no signal.
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
        /// True after the process has ended and all that it printed is in `lines`.
        var isRead = false
        /// How it ended. Until this is known the process is not reaped, so that its number belongs to it.
        var end: ProgramEnd?
        /// The lines that wait for space in the socket, in order.
        var unsent: [ArraySlice<UInt8>] = []
        /// True from the moment at which a thread is chosen to send these lines until it has sent them.
        var isSending = false
        /// True if the process's input ends after these lines.
        var isInputClosed = false
        /// True if the process stays a zombie until the last reference is released.
        var staysZombie = false
        var waiting: [CheckedContinuation<ProgramEnd, Never>] = []
    }

    /// The state that is shared with the child's thread. The thread references this and not the `ChildProcess`, so that
    /// the last reference to that one can still end the child.
    private final class Content: Sendable {
        let program: StartedProgram
        let process: ProcessHandle
        let connection: OpenFile
        let state = Mutex(State())
        /// Sends the lines for which the socket had no space.
        let sender = SerialThread(name: "child's input")

        init(_ program: StartedProgram, _ process: ProcessHandle, _ connection: OpenFile) {
            self.program = program
            self.process = process
            self.connection = connection
        }
    }

    private let content: Content
    private let isGroup: Bool
    /// The content of its standard error, if that is kept.
    private let keptErrors: OpenFile?

    /// `SOCK_CLOEXEC`, which is an enumerator that Swift does not see.
    private static let closeOnExec: Int32 = 0o2000000

    /// Starts a program in the working directory of this process. Blocks until the child runs it, for at most
    /// ``StartedProgram/startTimeout``: a task calls
    /// ``start(_:_:environment:input:errors:keepsErrors:ownSession:)`` instead.
    ///
    /// - Parameters:
    ///   - program: Its path, or a name that is looked up in `PATH`.
    ///   - environment: Variables that differ from those of this process; nil removes one.
    ///   - input: Whether lines can be sent to it; otherwise its input is empty.
    ///   - errors: The path of a file to which its standard error is appended; nil for that of this process.
    ///   - keepsErrors: Whether its standard error is kept for ``errorText(upTo:)`` instead.
    ///   - ownSession: Whether it leaves the terminal of this process. Signals then reach its process group.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], input: Bool = false,
        errors: String? = nil, keepsErrors: Bool = false, ownSession: Bool = false
    ) throws(SystemCallError) {
        var ends: [Int32] = [0, 0]
        // Closed on exec from the start, since other tasks start processes at the same time.
        let type = Int32(SOCK_STREAM.rawValue) | Self.closeOnExec
        _ = try SystemCall.run("socketpair", at: program) { socketpair(AF_UNIX, type, 0, &ends) }
        let connection = OpenFile(owning: ends[0], path: "connection with \(program)")
        let output = OpenFile(owning: ends[1], path: "output of \(program)")
        keptErrors = keepsErrors ? try .inMemory("standard error of \(program)") : nil
        try keptErrors?.appendOnly()
        let errorOutput = if let keptErrors { keptErrors } else { try Self.standardError(appendedTo: errors) }
        let standardInput = input ? output : try OpenFile(path: "/dev/null", .read)
        // The kernel kills a child with the thread that started it: this one lives as long as the child.
        content = try OwnedThread.start("child process") { () throws(SystemCallError) in
            let started = try StartedProgram(
                Self.path(of: program), arguments, variables: environment.compactMapValues { $0 },
                streams: [standardInput, output, errorOutput], directory: nil, ownSession: ownSession,
                endsWithThread: true, omitting: Set(environment.keys))
            return Content(started, started.handle, connection)
        } then: {
            Self.follow($0)
        }
        isGroup = ownSession
    }

    /// Starts a program as the initializer does, on a thread of its own: suspends the caller's task, not its thread.
    ///
    /// The parameters are those of ``init(_:_:environment:input:errors:keepsErrors:ownSession:)``.
    package static func start(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], input: Bool = false,
        errors: String? = nil, keepsErrors: Bool = false, ownSession: Bool = false
    ) async throws(SystemCallError) -> ChildProcess {
        try await SerialThread(name: "child's start").run { () throws(SystemCallError) in
            try ChildProcess(
                program, arguments, environment: environment, input: input, errors: errors, keepsErrors: keepsErrors,
                ownSession: ownSession)
        }
    }

    deinit {
        signal(.kill)
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

    /// Returns the path at which the shell finds a program.
    private static func path(of program: String) -> String {
        guard !program.utf8.contains(UInt8(ascii: "/")), let folders = getenv("PATH") else { return program }
        return String(cString: folders).split(separator: ":").map { $0 + "/" + program }
            .first { access($0, X_OK) == 0 } ?? program
    }

    package var pid: Int32 { content.program.pid }

    /// The number and the start time of the process, which no other process has.
    package var identity: ProcessIdentity { content.process.identity }

    // MARK: - Lines

    /// All lines that it has printed so far.
    package var lines: [String] { content.state.withLock(\.lines) }

    /// Sends lines. While the process has too many unread ones, a thread waits to send the rest; the caller waits only
    /// if the system has no thread left.
    ///
    /// - Throws: EPIPE, or ECONNRESET if it left lines unread, when it has ended or closed its input.
    package func send(_ lines: String...) throws(SystemCallError) { try send(lines) }

    package func send(_ lines: [String]) throws(SystemCallError) {
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        let connection = content.connection
        let mustSend = try content.state.withLock { state throws(SystemCallError) in
            var done = 0
            do throws(SystemCallError) {
                // New lines must not overtake the waiting ones.
                while !state.isSending, done < bytes.count {
                    done += try Self.send(bytes[done...], to: connection, Int32(MSG_DONTWAIT))
                }
            } catch  where error.number == EAGAIN {}
            guard done < bytes.count else { return false }
            state.unsent.append(bytes[done...])
            defer { state.isSending = true }
            return !state.isSending
        }
        // Submitted without the lock: if the system has no thread left, `submit` sends the lines on this thread, and
        // that takes the lock.
        if mustSend { content.sender.submit { [content] in Self.sendRest(of: content) } }
    }

    /// Sends the lines for which the socket had no space. Blocks.
    private static func sendRest(of content: Content) {
        while true {
            let (pieces, isInputClosed) = content.state.withLock { state in
                defer { state.unsent = [] }
                if state.unsent.isEmpty { state.isSending = false }
                return (state.unsent, state.isInputClosed)
            }
            if pieces.isEmpty {
                if isInputClosed { shutdown(content.connection.descriptor, Int32(SHUT_WR)) }
                return
            }
            for var piece in pieces {
                // A process that ends meanwhile reads no more; its end is reported.
                while !piece.isEmpty, let count = try? send(piece, to: content.connection, 0) {
                    piece = piece.dropFirst(count)
                }
            }
        }
    }

    private static func send(
        _ bytes: ArraySlice<UInt8>, to connection: OpenFile, _ flags: Int32
    ) throws(SystemCallError) -> Int {
        try SystemCall.run("send", at: connection.path) {
            bytes.withUnsafeBytes {
                Glibc.send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | flags)
            }
        }
    }

    /// Closes its input after all that was sent.
    package func closeInput() {
        let mustSend = content.state.withLock { state in
            state.isInputClosed = true
            defer { state.isSending = true }
            return !state.isSending
        }
        if mustSend { content.sender.submit { [content] in Self.sendRest(of: content) } }
    }

    /// Waits for the first line that was not returned yet.
    ///
    /// - Returns: Nil if it has ended and all of its lines were returned.
    /// - Throws: ``LineTimeout`` at the timeout, without taking a line; `CancellationError` when the task is cancelled.
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
                // If the task was cancelled, or the time was over, before the reader was registered, nothing has ended
                // this reader yet.
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

    /// Returns the end of its standard error, if that is kept; otherwise an empty text.
    package func errorText(upTo limit: Int) -> String {
        guard let file = keptErrors, let size = try? file.presence().byteCount else { return "" }
        let count = min(limit, size)
        return String(decoding: (try? file.read(count: count, at: size - count)) ?? [], as: UTF8.self)
    }

    // MARK: - Its end

    /// True while the process is stopped, as after SIGSTOP.
    package var isStopped: Bool { identity.isStopped == true }

    /// Sends a signal, unless it has ended.
    package func signal(_ signal: ProcessSignal) {
        // The process is reaped under the same lock, so the number cannot be another process's by now.
        content.state.withLock { state in
            guard state.end == nil else { return }
            // A child that has not begun its program yet may not have its own process group yet. The signal then goes
            // to the child alone.
            if !isGroup || Glibc.kill(-pid, signal.rawValue) != 0 { Glibc.kill(pid, signal.rawValue) }
        }
    }

    /// Stops it as SIGSTOP does, and returns when it has stopped or ended, or the task is cancelled.
    package func freeze() async {
        signal(.stop)
        while !isStopped, !hasEnded, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
    }

    /// True after the process has ended, even if not all of its lines were received yet. A zombie has ended.
    package var hasEnded: Bool { content.process.hasEnded }

    /// How it ended, after all of its lines were received; nil until then.
    package var ended: ProgramEnd? { content.state.withLock { $0.isRead ? $0.end : nil } }

    /// Waits for its end, even if the task is cancelled.
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

    /// Kills it and returns when it is reaped.
    package func killNow() async {
        signal(.kill)
        _ = await end()
        // A process that `killLeavingZombie()` has killed is not reaped by its thread, so it is reaped here.
        content.state.withLock { Self.reap(content.program, &$0) }
    }

    /// Kills it and leaves it unreaped until the last reference goes.
    package func killLeavingZombie() {
        content.state.withLock { $0.staysZombie = true }
        signal(.kill)
    }

    private static func reap(_ program: StartedProgram, _ state: inout State) {
        // `reap` cannot fail: the process is a child that no other code waits for.
        if state.end == nil { state.end = (try? program.reap()) ?? .killed(by: SIGKILL) }
    }

    // MARK: - Its thread

    private static func follow(_ content: Content) {
        var rest: [UInt8] = []
        var isOpen = true
        while true {
            let ready = Poll.wait(
                for: [content.process.descriptor] + (isOpen ? [content.connection.descriptor] : []), timeout: nil)
            // When the process has ended, the socket has all that the process itself wrote. Children of that process
            // may still write, but this thread does not wait for them.
            let hasEnded = ready[0]
            if isOpen, ready[1] { isOpen = receive(&rest, content) }
            if hasEnded {
                if isOpen { receiveRest(&rest, content) }
                break
            }
        }
        // Ends a send that waits for space in the socket: a child of the ended process may still have the other end
        // open.
        shutdown(content.connection.descriptor, Int32(SHUT_WR))
        let (readers, waiting, end) = content.state.withLock { state in
            if !state.staysZombie { reap(content.program, &state) }
            state.isRead = true
            defer { (state.readers, state.waiting) = ([], []) }
            return (state.readers, state.waiting, state.end)
        }
        for reader in readers { reader.continuation.resume(returning: nil) }
        for continuation in waiting { continuation.resume(returning: end ?? .killed(by: SIGKILL)) }
    }

    /// Takes at most one buffer of the received data, so that the end of the process is noticed even if a process that
    /// it left writes without pause.
    ///
    /// - Returns: Whether more data can arrive.
    private static func receive(_ rest: inout [UInt8], _ content: Content) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(content.connection.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        // Only the new bytes are searched for a line break, because a line may have megabytes.
        var pieces = buffer[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        while pieces.count > 1, let piece = pieces.popFirst() {
            let line = String(decoding: rest + piece, as: UTF8.self)
            rest = []
            add(line, content)
        }
        rest += pieces.first ?? []
        return true
    }

    /// Takes the bytes that the socket has at the time of the call, when the process has ended, and no more: a process
    /// that it left may write on.
    private static func receiveRest(_ rest: inout [UInt8], _ content: Content) {
        // Each turn takes a whole buffer, or all bytes that are left.
        for _ in 0..<(content.connection.waitingByteCount / (64 << 10) + 1) where !receive(&rest, content) { return }
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
