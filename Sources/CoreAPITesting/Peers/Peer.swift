internal import CoreAPI
internal import Glibc
internal import Platform
internal import Synchronization

/// A second process that runs ``ConformancePeer``, driven line by line. It is killed when the last reference goes.
package final class Peer: Sendable {
    package let pid: Int32
    private let connection: OpenFile
    private let note: @Sendable (String) -> Void
    private let lines = Mutex<[String]>([])
    private let hasEnded = Atomic(false)
    /// Whether its end was waited for. From then on its number may be another process's, so nothing is sent to it.
    private let isReaped = Mutex(false)

    /// `SOCK_CLOEXEC`, which is an enumerator that Swift does not see.
    private static let closeOnExec: Int32 = 0o2000000

    /// Starts a peer.
    ///
    /// - Parameters:
    ///   - environment: Variables that are set for it; one of nil is taken away.
    ///   - arguments: What runs before it, such as a change of the user.
    ///   - note: Is told each line that goes to and fro.
    package init(
        _ program: PeerProgram, environment changes: [String: String?] = [:], through arguments: [String] = [],
        noting note: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
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

        let words = arguments + [program.path] + program.arguments
        var environment = changes.compactMap { name, value in value.map { "\(name)=\($0)" } }
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            if !changes.keys.contains(where: { line.hasPrefix($0 + "=") }) { environment.append(line) }
            entry += 1
        }
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
        self.note = note
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
        killNow()
    }

    /// Sends a command without waiting for its answer.
    package func send(_ command: String) throws {
        note("to \(pid): \(command)")
        try write([command])
    }

    /// Sends several commands at once without waiting for their answers.
    package func send(_ commands: [String]) throws {
        guard let first = commands.first, let last = commands.last else { return }
        note("to \(pid): \(commands.count) commands from “\(first)” to “\(last)”")
        try write(commands)
    }

    private func write(_ commands: [String]) throws {
        let bytes = Array(commands.map { $0 + "\n" }.joined().utf8)
        guard Glibc.write(connection.descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemCallError("write", number: errno, at: "peer \(pid)")
        }
    }

    /// The next line that the peer wrote.
    package func answer(within limit: Duration = Patience.usual) async throws -> String {
        try await eventually("the peer \(pid) answers", within: limit) {
            if lines.withLock({ !$0.isEmpty }) { return true }
            if hasEnded.load(ordering: .acquiring), lines.withLock({ $0.isEmpty }) {
                throw PeerRefusal("nothing: it has ended")
            }
            return false
        }
        let line = lines.withLock { $0.removeFirst() }
        note("from \(pid): \(line)")
        return line
    }

    /// Sends a command and gives its answer, without the leading "ok".
    @discardableResult
    package func tell(_ command: String, within limit: Duration = Patience.usual) async throws -> String {
        try send(command)
        return try await done(within: limit)
    }

    /// The answer to a command that was sent, without the leading "ok".
    ///
    /// - Throws: ``PeerRefusal`` when the answer is no success.
    @discardableResult
    package func done(within limit: Duration = Patience.usual) async throws -> String {
        let line = try await answer(within: limit)
        guard line.hasPrefix("ok") else { throw PeerRefusal(line) }
        return String(line.dropFirst(3))
    }

    /// What the peer has still answered, until its end.
    package func lastAnswers() async throws -> [String] {
        try await eventually("the connection with the peer \(pid) ends") { hasEnded.load(ordering: .acquiring) }
        return lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// Starts the peer of a harness.
    static func start(
        by harness: any ConformanceHarness, noting note: @escaping @Sendable (String) -> Void
    ) async throws -> Peer {
        guard let program = harness.peer else {
            throw HarnessLimitation("the harness “\(harness.name)” has no program for a second process")
        }
        let peer = try Peer(program, noting: note)
        _ = try await peer.answer()
        return peer
    }

    // MARK: - Its end

    /// Sends it a signal; to nobody when its end was waited for.
    package func signal(_ signal: Int32) {
        // It is reaped under the same lock, so the number means it.
        isReaped.withLock { if !$0 { kill(pid, signal) } }
    }

    /// Kills it and waits until it is gone, if that has not happened yet.
    package func killNow() {
        signal(SIGKILL)
        reap()
    }

    /// Waits until it has stopped itself.
    package func stopped(within limit: Duration = Patience.usual) async throws {
        try await eventually("the peer \(pid) stops itself", within: limit) { processState == "T" }
    }

    /// Waits until it has ended by itself.
    package func ended(within limit: Duration = Patience.usual) async throws {
        try await eventually("the peer \(pid) ends", within: limit) { processState == "Z" || processState == nil }
        reap()
    }

    /// Waits until it has ended, and does not wait for it as a parent: it stays as a zombie until the last reference goes.
    package func becomesZombie(within limit: Duration = Patience.usual) async throws {
        // Its first thread may be one before the others have ended.
        let identity = try expectSome(ProcessIdentity(of: pid), "the record of the peer \(pid)")
        try await eventually("the peer \(pid) ends", within: limit) { identity.liveness == .dead }
    }

    private var processState: Character? {
        guard let bytes = try? OpenFile(path: "/proc/\(pid)/stat", .read).read(count: 512, at: 0) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        return text[text.index(end, offsetBy: 2)...].first
    }

    private func reap() {
        isReaped.withLock { isReaped in
            guard !isReaped else { return }
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
            isReaped = true
        }
    }
}
