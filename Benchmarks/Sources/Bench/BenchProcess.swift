internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// A program that a figure is measured with: its lines, its orders, its end. It is killed when nobody refers to it any
/// more.
final class BenchProcess: Sendable {
    private struct State {
        var lines: [String] = []
        var isOver = false
        var waiting: [CheckedContinuation<String?, Never>] = []
    }

    private final class Content: Sendable {
        let state = Mutex(State())
        let input = Mutex<OpenFile?>(nil)
    }

    private let program: StartedProgram
    private let content: Content

    init(_ path: String, _ arguments: [String]) throws {
        let (input, output) = (try Pipe(), try Pipe())
        // Numbers that it gets as its own.
        let errors = OpenFile(owning: try Self.duplicate(STDERR_FILENO), path: "standard error")
        // Control-C at a terminal is for this program: it ends them, and tells what was measured.
        let program = try StartedProgram(
            path, arguments, streams: [input.output, output.input, errors], ownSession: true)
        let content = Content()
        content.input.withLock { $0 = input.input }
        self.program = program
        self.content = content
        let lines = output.output
        try OwnedThread.start("bench") { Self.follow(program, lines, content) }
    }

    var pid: Int32 { program.pid }

    deinit {
        signal(SIGKILL)
    }

    private static func duplicate(_ descriptor: Int32) throws -> Int32 {
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else { throw SystemCallError("fcntl(F_DUPFD_CLOEXEC)", number: errno, at: "standard error") }
        return number
    }

    /// The next line that it prints.
    ///
    /// - Throws: When it has ended without one.
    func line() async throws -> String {
        let line: String? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: String?? = content.state.withLock { state in
                    if !state.lines.isEmpty { return state.lines.removeFirst() }
                    if state.isOver { return .some(nil) }
                    state.waiting.append(continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            // What it would have said is not waited for any more.
            signal(SIGKILL)
        }
        try Task.checkCancellation()
        guard let line else { throw BenchFailure(.unavailable, "a participant ended before it had said what it did") }
        return line
    }

    /// Waits for a line that begins with a word.
    ///
    /// - Returns: The time that it tells; zero where it tells none.
    @discardableResult
    func hear(_ word: String) async throws -> BootInstant {
        while true {
            let parts = try await line().split(separator: " ")
            guard parts.first.map(String.init) == word else { continue }
            return BootInstant(nanoseconds: parts.count > 1 ? UInt64(parts[1]) ?? 0 : 0)
        }
    }

    func order(_ word: String) throws {
        try content.input.withLock { try $0?.writeStream(Array((word + "\n").utf8)) }
    }

    /// Closes its input, and waits for its end.
    func finish() async throws {
        content.input.withLock { $0 = nil }
        while (try? await line()) != nil {}
        try Task.checkCancellation()
    }

    func signal(_ number: Int32) {
        // Its end is waited for under the same lock, so the number means it.
        content.state.withLock { state in
            // With those that it has started, which are in its process group.
            if !state.isOver { _ = kill(-program.pid, number) }
        }
    }

    private static func follow(_ program: StartedProgram, _ output: OpenFile, _ content: Content) {
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(output.descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            rest += buffer.prefix(count)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeSubrange(...end)
                let listener = content.state.withLock { state in
                    if state.waiting.isEmpty { state.lines.append(line) }
                    return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
                }
                listener?.resume(returning: line)
            }
        }
        program.waitUntilEnded()
        let waiting = content.state.withLock { state in
            state.isOver = true
            _ = try? program.waitForEnd()
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: nil) }
    }
}
