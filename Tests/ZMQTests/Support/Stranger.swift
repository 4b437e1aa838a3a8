internal import Glibc
internal import Platform
internal import ZMQBackend

/// One end of a connection to a hub that sends, byte by byte, data that no library would send.
final class Stranger {
    private let socket: OpenFile
    /// The received bytes that were not parsed yet, and the number of messages.
    private var rest: [UInt8] = []
    private(set) var messageCount = 0
    private let opening: Opening
    /// True if the other side has accepted the connection, which it shows by its greeting. For an opening that it
    /// refuses, a close counts as well: it may close before its greeting is read.
    private(set) var isTakenIn = false
    /// True if the other side has ended its part of the handshake. A message before that is a breach of the protocol.
    private(set) var isThrough = false
    /// True if the other side has closed the connection.
    private(set) var isClosed = false

    /// The first bytes of the connection.
    enum Opening: CaseIterable {
        /// Sends nothing.
        case silence
        /// The first bytes of a handshake.
        case halfGreeting
        /// Bytes that are no handshake.
        case noise
        /// The whole handshake of a client without keys.
        case handshake
        /// The greeting of a client with keys, and the beginning of a command that is said to have 16 MiB.
        case largeCommand
        /// The greeting and the first command of a client with keys, with a key that it has made up.
        case falseKey

        /// True if the other side may refuse it at once: bytes that are no handshake, or a handshake without the keys
        /// that it demands.
        fileprivate var isRefused: Bool {
            switch self {
            case .silence, .halfGreeting: false
            case .noise, .handshake, .largeCommand, .falseKey: true
            }
        }

        fileprivate var bytes: [UInt8] {
            switch self {
            case .silence: []
            case .halfGreeting: Array(Stranger.greeting.prefix(20))
            case .noise: Array("GET / HTTP/1.1\r\nHost: hub\r\n\r\n".utf8) + [UInt8](repeating: 0xFF, count: 100)
            case .handshake: Stranger.greeting + Stranger.ready
            case .largeCommand:
                Array(Stranger.greeting[..<12]) + Array("CURVE".utf8) + [UInt8](repeating: 0, count: 47)
                    + [6, 0, 0, 0, 0, 1, 0, 0, 0] + [UInt8](repeating: 0, count: 1_000)
            case .falseKey:
                Array(Stranger.greeting[..<12]) + Array("CURVE".utf8) + [UInt8](repeating: 0, count: 47)
                    + [4, 200, 5] + Array("HELLO".utf8) + [1, 0] + [UInt8](repeating: 7, count: 192)
            }
        }
    }

    /// The greeting of ZMTP 3.1, without keys.
    private static let greeting: [UInt8] =
        [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3, 1] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 16)
        + [UInt8](repeating: 0, count: 32)

    /// The command that ends the handshake.
    private static let ready: [UInt8] = {
        let body = [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 6] + Array("DEALER".utf8)
        return [4, UInt8(body.count)] + body
    }()

    /// - Parameter host: The number of the address on loopback that it comes from: 127.0.0.1 and others.
    init(at endpoint: HubEndpoint, _ opening: Opening, from host: UInt32 = 1) throws {
        self.opening = opening
        switch endpoint {
        case .ipc(let path):
            socket = try Self.connected(AF_UNIX, at: endpoint) { Self.address(path, &$0) }
        case .tcp(_, let port):
            socket = try Self.connected(AF_INET, at: endpoint, from: host) { Self.address(port, &$0) }
        case .inproc:
            throw SystemCallError("connect", number: EAFNOSUPPORT, at: "\(endpoint)")
        }
        say(opening.bytes)
    }

    /// Sends a message of one frame.
    func send(_ frame: [UInt8]) {
        say([0, UInt8(frame.count)] + frame)
    }

    /// Sends as much of a large command as the other side accepts without waiting, at most 16 MiB.
    func pour() {
        let bytes = [UInt8](repeating: 7, count: 64 << 10)
        for _ in 0..<256 {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count <= 0 { return }
        }
    }

    /// Reads all bytes that have arrived.
    func listen() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 || (opening.isRefused && (count == 0 || errno != EAGAIN)) { isTakenIn = true }
            if count == 0 || (count < 0 && errno != EAGAIN) { isClosed = true }
            guard count > 0 else { break }
            rest += buffer.prefix(count)
        }
        if rest.first == Self.greeting[0], rest.count >= Self.greeting.count { rest.removeFirst(Self.greeting.count) }
        // Frames of up to 255 bytes: flags, size, body. The flag 4 is that of a command.
        while rest.count >= 2, rest[0] & 2 == 0, rest.count >= 2 + Int(rest[1]) {
            if rest[0] & 4 == 0 { messageCount += 1 } else { isThrough = true }
            rest.removeFirst(2 + Int(rest[1]))
        }
    }

    private func say(_ bytes: [UInt8]) {
        // The test checks elsewhere whether the other side still listens.
        _ = bytes.withUnsafeBytes { Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    private static func connected(
        _ family: Int32, at endpoint: HubEndpoint, from host: UInt32 = 1,
        _ address: (inout sockaddr_storage) -> socklen_t
    ) throws -> OpenFile {
        // With SOCK_CLOEXEC, which is an enumerator that Swift does not see.
        let descriptor = Glibc.socket(family, Int32(SOCK_STREAM.rawValue) | 0o2000000, 0)
        guard descriptor >= 0 else { throw SystemCallError("socket", number: errno, at: "\(endpoint)") }
        let file = OpenFile(owning: descriptor, path: "\(endpoint)")
        if host != 1 {
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            own.sin_addr.s_addr = (0x7f00_0000 | host).bigEndian
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withUnsafePointer(to: &own) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
            }
            guard bound == 0 else { throw SystemCallError("bind", number: errno, at: "127.0.0.\(host)") }
        }
        var storage = sockaddr_storage()
        let count = address(&storage)
        let result = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, count) }
        }
        guard result == 0 else { throw SystemCallError("connect", number: errno, at: "\(endpoint)") }
        return file
    }

    private static func address(_ path: String, _ storage: inout sockaddr_storage) -> socklen_t {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        withUnsafeMutableBytes(of: &storage) { target in withUnsafeBytes(of: address) { target.copyMemory(from: $0) } }
        return socklen_t(MemoryLayout<sockaddr_un>.size)
    }

    private static func address(_ port: UInt16, _ storage: inout sockaddr_storage) -> socklen_t {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        withUnsafeMutableBytes(of: &storage) { target in withUnsafeBytes(of: address) { target.copyMemory(from: $0) } }
        return socklen_t(MemoryLayout<sockaddr_in>.size)
    }
}
