internal import CoreAPI
internal import Glibc

/// A check whether a server listens at a port of a network. It blocks its thread, so it is for owned threads only.
package enum ListeningPort {
    /// Returns whether a program accepts connections at a port of a host. Connects, and sends nothing.
    ///
    /// - Parameters:
    ///   - host: A name or an address, an IPv6 one also in brackets.
    ///   - timeout: The time that each of its addresses may take.
    package static func answers(_ host: String, _ port: UInt16, timeout: Duration) -> Bool {
        var wanted = addrinfo()
        wanted.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard getaddrinfo(name, String(port), &wanted, &found) == 0 else { return false }
        defer { freeaddrinfo(found) }
        var next = found
        while let address = next {
            if isTaken(address.pointee, timeout: timeout) { return true }
            next = address.pointee.ai_next
        }
        return false
    }

    private static func isTaken(_ address: addrinfo, timeout: Duration) -> Bool {
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.ai_family, address.ai_socktype | flags, address.ai_protocol)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return true }
        guard errno == EINPROGRESS else { return false }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = Int32(clamping: timeout.millisecondsRoundedUp)
        var count: Int32
        repeat { count = poll(&entry, 1, milliseconds) } while count == -1 && errno == EINTR
        guard count == 1 else { return false }
        var error: Int32 = 0
        var byteCount = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &byteCount) == 0 && error == 0
    }
}
