internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport

/// A second process, driven line by line. It is killed when the last reference goes.
final class PeerProcess: Sendable {
    let pid: Int32
    private let connection: OpenFile
    private let lines = Mutex<[String]>([])
    private let hasEnded = Atomic(false)
    private let status = Mutex<Int32?>(nil)

    /// `SOCK_CLOEXEC`, which is an enumerator that Swift does not see.
    private static let closeOnExec: Int32 = 0o2000000

    /// Where the peer's program is: beside the test bundle.
    private static var program: String {
        get throws {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
            guard count > 0 else { throw SystemCallError("readlink", number: errno, at: "/proc/self/exe") }
            let path = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
            let bundle = CommandLine.arguments.first { $0.hasPrefix("/") && $0.hasSuffix(".xctest") } ?? path
            let directory = bundle.prefix(upTo: bundle.lastIndex(of: "/") ?? bundle.startIndex)
            return directory + "/sharedcore-test-peer"
        }
    }

    /// Starts a peer.
    ///
    /// - Parameters:
    ///   - failPoint: Where it stops or dies; see `FailPoint` in the backend.
    ///   - arguments: What runs before it, such as a change of the user.
    init(failPoint: String? = nil, through arguments: [String] = []) throws {
        // Closed on exec from the start, since other tests start peers at the same time.
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Self.closeOnExec, 0, &ends) == 0 else {
            throw SystemCallError("socketpair", number: errno, at: "peer")
        }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)

        let words = try arguments + [Self.program]
        var environment: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            if !line.hasPrefix("SHAREDCORE_FAIL_POINT=") { environment.append(line) }
            entry += 1
        }
        if let failPoint { environment.append("SHAREDCORE_FAIL_POINT=\(failPoint)") }
        var argumentPointers = words.map { strdup($0) } + [nil]
        var environmentPointers = environment.map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }

        var child: Int32 = 0
        let code = posix_spawnp(&child, words[0], &actions, nil, &argumentPointers, &environmentPointers)
        guard code == 0 else {
            close(ends[0])
            throw SystemCallError("posix_spawnp", number: code, at: words[0])
        }
        pid = child
        connection = OpenFile(owning: ends[0], path: "peer \(child)")
        let connection = connection
        try OwnedThread.start("peer \(child)") { [weak self] in
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(connection.descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { break }
                rest += buffer.prefix(count)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    rest.removeFirst(end + 1)
                    self?.lines.withLock { $0.append(line) }
                }
            }
            self?.hasEnded.store(true, ordering: .releasing)
        }
    }

    deinit {
        kill(pid, SIGKILL)
        reap()
    }

    /// Sends a command without waiting for its answer.
    func send(_ command: String) throws {
        let bytes = Array((command + "\n").utf8)
        guard write(connection.descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemCallError("write", number: errno, at: "peer \(pid)")
        }
    }

    /// The next line that the peer wrote.
    func answer(within limit: Duration = TestSupport.Patience.usual) async throws -> String {
        try await eventually("the peer \(pid) answers", within: limit) {
            if lines.withLock({ !$0.isEmpty }) { return true }
            if hasEnded.load(ordering: .acquiring), lines.withLock({ $0.isEmpty }) {
                throw PeerRefusal(answer: "nothing: it has ended")
            }
            return false
        }
        return lines.withLock { $0.removeFirst() }
    }

    /// Sends a command and gives its answer, without the leading "ok".
    @discardableResult
    func tell(_ command: String, within limit: Duration = TestSupport.Patience.usual) async throws -> String {
        try send(command)
        let line = try await answer(within: limit)
        guard line.hasPrefix("ok") else { throw PeerRefusal(answer: line) }
        return String(line.dropFirst(3))
    }

    /// Starts a peer that has the group open.
    static func joining(
        _ directory: String, failPoint: String? = nil, disk: Bool = false, through arguments: [String] = []
    ) async throws -> PeerProcess {
        let peer = try PeerProcess(failPoint: failPoint, through: arguments)
        _ = try await peer.answer()
        try await peer.tell("open \(directory)\(disk ? " disk" : "")")
        return peer
    }

    // MARK: - Its end

    func signal(_ signal: Int32) {
        kill(pid, signal)
    }

    /// Kills it and waits until it is gone.
    func killNow() {
        kill(pid, SIGKILL)
        reap()
    }

    /// Waits until it has stopped itself.
    func stopped(within limit: Duration = TestSupport.Patience.usual) async throws {
        try await eventually("the peer \(pid) stops itself", within: limit) { processState == "T" }
    }

    /// Waits until it has ended by itself.
    func ended(within limit: Duration = TestSupport.Patience.usual) async throws {
        try await eventually("the peer \(pid) ends", within: limit) { processState == "Z" || processState == nil }
        reap()
    }

    private var processState: Character? {
        guard let bytes = try? OpenFile(path: "/proc/\(pid)/stat", .read).read(count: 512, at: 0) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        return text[text.index(end, offsetBy: 2)...].first
    }

    private func reap() {
        status.withLock { status in
            guard status == nil else { return }
            var code: Int32 = 0
            waitpid(pid, &code, 0)
            status = code
        }
    }
}
