internal import Glibc
internal import Platform
internal import Synchronization

/// A program that a test runs as a real process: its lines, its signals, its end. It is killed when the last reference
/// to it goes.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case killed(by: Int32)
    }

    private struct State {
        var lines: [String] = []
        var end: End?
        var waiting: [CheckedContinuation<End, Never>] = []
    }

    package let pid: Int32
    private let state: Shared

    private final class Shared: Sendable {
        let content = Mutex(State())
    }

    /// `SOCK_CLOEXEC`, which is an enumerator that Swift does not see.
    private static let closeOnExec: Int32 = 0o2000000

    /// Where a program of this package was built: beside the test bundle.
    package static func built(_ name: String) throws -> String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        guard let slash = bundle.lastIndex(of: "/") else { throw FileProblem(path: bundle, code: ENOENT) }
        let path = bundle[...slash] + name
        guard access(String(path), X_OK) == 0 else { throw FileProblem(path: String(path), code: errno) }
        return String(path)
    }

    /// Starts a program, given by its path or by a name that is looked for where the shell looks.
    ///
    /// - Parameters:
    ///   - environment: Variables that are set for it beside those of this process.
    ///   - errors: The path of a file to which its standard error is added; nil for that of this process.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], errors: String? = nil
    ) throws {
        var ends: [Int32] = [0, 0]
        // Closed on exec from the start, since other tests start processes at the same time.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Self.closeOnExec, 0, &ends) == 0 else {
            throw FileProblem(path: "socketpair", code: errno)
        }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        if let errors { posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600) }

        var variables: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            if !environment.keys.contains(where: { line.hasPrefix($0 + "=") }) { variables.append(line) }
            entry += 1
        }
        variables += environment.map { "\($0.key)=\($0.value)" }
        var argumentPointers = ([program] + arguments).map { strdup($0) } + [nil]
        var variablePointers = variables.map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers + variablePointers { free(pointer) } }

        var child: Int32 = 0
        let code = posix_spawnp(&child, program, &actions, nil, &argumentPointers, &variablePointers)
        guard code == 0 else {
            close(ends[0])
            throw FileProblem(path: program, code: code)
        }
        let pid = child
        self.pid = pid
        let output = OpenFile(owning: ends[0], path: "output of \(pid)")
        let shared = Shared()
        state = shared
        try OwnedThread.start("child \(pid)") { Self.follow(pid, output, shared) }
    }

    deinit {
        signal(SIGKILL)
    }

    /// The lines that it has written to its standard output so far.
    package var lines: [String] {
        state.content.withLock { $0.lines }
    }

    /// How it ended; nil while it runs.
    package var ended: End? {
        state.content.withLock { $0.end }
    }

    /// Sends a signal, unless it has ended.
    package func signal(_ number: Int32) {
        // The process is reaped under the same lock, so the number cannot be another process's by now.
        state.content.withLock { state in
            guard state.end == nil else { return }
            kill(pid, number)
        }
    }

    /// Waits for its end.
    package func end() async -> End {
        await withCheckedContinuation { continuation in
            let end = state.content.withLock { state in
                if state.end == nil { state.waiting.append(continuation) }
                return state.end
            }
            if let end { continuation.resume(returning: end) }
        }
    }

    /// Whether it stands still after SIGSTOP.
    package var isStopped: Bool {
        guard let bytes = try? OpenFile(path: "/proc/\(pid)/stat", .read).read(count: 512, at: 0) else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let close = text.lastIndex(of: ")") else { return false }
        return text[text.index(close, offsetBy: 2)...].first == "T"
    }

    private static func follow(_ pid: Int32, _ output: OpenFile, _ shared: Shared) {
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(output.descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            // Only what is new is looked through: a line may have megabytes.
            var pieces = buffer[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
            while pieces.count > 1, let piece = pieces.popFirst() {
                let line = String(decoding: rest + piece, as: UTF8.self)
                rest = []
                shared.content.withLock { $0.lines.append(line) }
            }
            rest += pieces.first ?? []
        }
        // Waited for without reaping, so that the reaping itself can be done under the lock.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let waiting = shared.content.withLock { state in
            var status: Int32 = 0
            waitpid(pid, &status, 0)
            let signal = status & 0x7f
            let end = signal == 0 ? End.exited((status >> 8) & 0xff) : .killed(by: signal)
            state.end = end
            defer { state.waiting = [] }
            return state.waiting.map { ($0, end) }
        }
        for (continuation, end) in waiting { continuation.resume(returning: end) }
    }
}
