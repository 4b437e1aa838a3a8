internal import Foundation

/// A socket of TCP over version 4. Its calls wait, so they are for threads of one's own.
public final class StreamSocket: Sendable {
    /// A call of the system failed.
    public struct Failure: Error, CustomStringConvertible {
        public let call: String
        public let number: Int32

        /// - Parameter number: The error's number; nil for that of the call before.
        public init(_ call: String, _ number: Int32? = nil) {
            self.call = call
            self.number = number ?? errno
        }

        public var description: String { "\(call): \(String(cString: strerror(number)))" }
    }

    public let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    private static func make() throws -> StreamSocket {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        return StreamSocket(descriptor)
    }

    private static func withAddress<Value>(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) throws -> Value {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { throw Failure("address \(host)", EINVAL) }
        return withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { addresses in
                // The address is as long as a `sockaddr`, so there is one.
                guard let start = addresses.baseAddress else { preconditionFailure("an address has bytes") }
                return body(start, socklen_t(bytes.count))
            }
        }
    }

    /// Connects; gives up after ten seconds.
    public static func connect(to host: String, port: UInt16) throws -> StreamSocket {
        let socket = try make()
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = try withAddress(host, port) { Foundation.connect(socket.descriptor, $0, $1) }
        guard result == 0 else { throw Failure("connect to \(host):\(port)") }
        return socket
    }

    /// Listens, at any free port where the port is 0.
    public static func listen(at host: String, port: UInt16) throws -> StreamSocket {
        let socket = try make()
        var yes: Int32 = 1
        setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard try withAddress(host, port, { bind(socket.descriptor, $0, $1) }) == 0 else { throw Failure("bind") }
        guard Foundation.listen(socket.descriptor, 16) == 0 else { throw Failure("listen") }
        return socket
    }

    /// Waits for a client that connects; nil when the socket was shut down.
    public func accept() -> StreamSocket? {
        let accepted = Foundation.accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return StreamSocket(accepted)
    }

    /// The port and the address at this end.
    public var local: (host: String, port: UInt16) {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) }
        }
        var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
        inet_ntop(AF_INET, &address.sin_addr, &text, socklen_t(text.count))
        let host = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return (host, UInt16(bigEndian: address.sin_port))
    }

    /// Waits for bytes; none when the other end has closed or the socket was shut down.
    public func receive() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            return Array(buffer.prefix(max(count, 0)))
        }
    }

    /// Sends all without waiting: messages are short, and a client that does not take them is gone.
    public func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure("send") }
            rest = rest.dropFirst(count)
        }
    }

    /// Shuts the socket down in both directions, which ends the calls that wait at it.
    public func shutDown() {
        Foundation.shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
