internal import CLinux
internal import Glibc

/// One end of a connection between programs. It never waits.
package final class StreamConnection: Sendable {
    /// The result of a receive.
    package enum Reception: Hashable, Sendable {
        case bytes([UInt8])
        /// Nothing yet.
        case nothing
        /// The other end has closed.
        case end
    }

    /// The descriptor to poll for reading.
    package let descriptor: Int32

    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Connects to the program that listens at a path, or at an abstract name, which begins with `@`.
    package init(to path: String) throws(SystemCallError) {
        descriptor = try SystemCall.negated("connect", at: path) { clinux_connect_to(path) }
    }

    /// Connects to the program that listens at a port of the loopback interface. Does not wait until the connection
    /// exists. If it cannot be made, the new object behaves as one whose connection has ended.
    package init(toLoopbackPort port: UInt16) throws(SystemCallError) {
        descriptor = try SystemCall.negated("connect", at: "127.0.0.1:\(port)") { clinux_connect_on_loopback(port) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// The user at the other end when the connection was made; nil if the system does not report it.
    package var peerUser: UInt32? { peer?.user }

    /// The user and the process at the other end, at the time when it began to listen or connected; nil if the system
    /// does not report them.
    package var peer: (user: UInt32, process: Int32)? {
        var user: uid_t = 0
        var process: pid_t = 0
        return clinux_peer(descriptor, &user, &process) < 0 ? nil : (user, process)
    }

    /// True if the connection has unread bytes.
    package var hasUnread: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Takes the received bytes, at most `count`.
    package func receive(upTo count: Int) -> Reception {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            let received = clinux_receive(descriptor, &buffer, count)
            if received == -EINTR { continue }
            if received == -EAGAIN { return .nothing }
            return received <= 0 ? .end : .bytes(Array(buffer[..<Int(received)]))
        }
    }

    /// Takes the received bytes into a buffer.
    ///
    /// - Returns: The number of bytes; nil if there is nothing yet, 0 at the end.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        while true {
            let received = clinux_receive(descriptor, buffer.baseAddress, buffer.count)
            if received == -EINTR { continue }
            if received == -EAGAIN { return nil }
            return max(Int(received), 0)
        }
    }

    /// Sends as many of the first bytes as the kernel accepts now.
    ///
    /// - Returns: The number of sent bytes; nil if the connection has ended.
    package func sendSome(_ bytes: UnsafeRawBufferPointer) -> Int? {
        while true {
            let sent = clinux_send(descriptor, bytes.baseAddress, bytes.count)
            if sent == -EINTR { continue }
            if sent == -EAGAIN { return 0 }
            return sent < 0 ? nil : Int(sent)
        }
    }

    /// Sends all of `bytes`.
    ///
    /// - Returns: Whether the kernel accepted them all; it does not if the other end reads too slowly.
    package func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let sent = bytes[done...].withUnsafeBytes { clinux_send(descriptor, $0.baseAddress, $0.count) }
            if sent == -EINTR { continue }
            guard sent > 0 else { return false }
            done += Int(sent)
        }
        return true
    }
}
