internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport

/// A real TCP server of one connection, which it sends lines on and which it watches for a close.
final class LineServer: Sendable {
    private struct State {
        var connections: [OpenFile] = []
        var closes = 0
    }

    let port: UInt16
    private let listener: OpenFile
    private let state: Mutex<State>

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Self.closeOnExec, 0)
        guard descriptor >= 0 else { throw FileProblem(path: "socket", code: errno) }
        listener = OpenFile(owning: descriptor, path: "listener")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code: Int32 = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { base in
                bind(descriptor, base, size) != 0 || listen(descriptor, 8) != 0
                    || getsockname(descriptor, base, &size) != 0 ? errno : 0
            }
        }
        guard code == 0 else { throw FileProblem(path: "listener", code: code) }
        port = UInt16(bigEndian: address.sin_port)
        state = Mutex(State())
        try OwnedThread.start("server") { [weak self, listener] in
            while true {
                let next = accept(listener.descriptor, nil, nil)
                guard next >= 0, let self else { return }
                _ = fcntl(next, F_SETFD, FD_CLOEXEC)
                self.follow(OpenFile(owning: next, path: "connection"))
            }
        }
    }

    /// `SOCK_CLOEXEC`, which is an enumerator that Swift does not see.
    private static let closeOnExec: Int32 = 0o2000000

    deinit {
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        for connection in state.withLock({ $0.connections }) { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
    }

    private func follow(_ connection: OpenFile) {
        state.withLock { $0.connections.append(connection) }
        try? OwnedThread.start("connection") { [weak self] in
            var byte: UInt8 = 0
            while recv(connection.descriptor, &byte, 1, 0) > 0 {}
            self?.state.withLock { $0.closes += 1 }
        }
    }

    /// The number of connections so far.
    var connectionCount: Int { state.withLock { $0.connections.count } }
    /// The number of other ends that were closed.
    var closeCount: Int { state.withLock { $0.closes } }

    /// Sends a line on the only connection. A Main may report its connection before this server has accepted it.
    func send(_ line: String) async throws {
        try await eventually("somebody has connected") { self.connectionCount > 0 }
        let connection = try expectSome(state.withLock { $0.connections.first }, "a connection")
        let bytes = Array((line + "\n").utf8)
        guard Glibc.send(connection.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw FileProblem(path: "connection", code: errno)
        }
    }
}
