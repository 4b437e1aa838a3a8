internal import CLinux
internal import Glibc

/// A socket on which the kernel reports every change of links, addresses and routes (rtnetlink).
///
/// It stays in the network namespace of the thread that opened it.
package final class RouteSocket: RouteReports {
    /// The kinds of objects that can be requested as a whole.
    package enum Kind: UInt16, Hashable, Sendable, CaseIterable {
        // RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE
        case links = 18
        case addresses = 22
        case routes = 26
    }

    /// One result of reading the socket.
    package enum Taken: Hashable, Sendable {
        /// One or more whole messages.
        case messages([UInt8])
        /// The kernel dropped reports because they were not read in time.
        case overflow
    }

    /// The descriptor to poll for reading.
    package let descriptor: Int32

    package init() throws(SystemCallError) {
        descriptor = try SystemCall.negated("socket", at: "rtnetlink") { clinux_route_socket() }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Asks for all of a kind; the answer comes in messages that carry the sequence number.
    package func ask(for kind: Kind, sequence: UInt32) throws(SystemCallError) {
        try SystemCall.negated("sendto", at: "rtnetlink") { clinux_ask_routes(descriptor, kind.rawValue, sequence) }
    }

    /// Takes the next datagram without waiting; nil when there is none.
    package func take() throws(SystemCallError) -> Taken? {
        // The kernel makes no datagram that is longer than 32 KiB.
        try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
            Result { () throws(SystemCallError) in
                while true {
                    let count = clinux_take_routes(descriptor, buffer.baseAddress, buffer.count)
                    switch count {
                    case 1...: return Taken.messages(Array(buffer.prefix(Int(count))))
                    case 0, -EINTR: continue
                    case -EAGAIN: return nil
                    case -ENOBUFS, -EMSGSIZE: return .overflow
                    default: throw SystemCallError("recvmsg", number: -count, at: "rtnetlink")
                    }
                }
            }
        }.get()
    }
}

/// The source of the kernel's reports of links, addresses and routes: a ``RouteSocket``, or a test's replacement.
package protocol RouteReports: Sendable {
    /// The descriptor to poll for reading.
    var descriptor: Int32 { get }

    /// Asks for all of a kind; the answer comes in messages that carry the sequence number.
    func ask(for kind: RouteSocket.Kind, sequence: UInt32) throws(SystemCallError)

    /// Takes the next datagram without waiting; nil when there is none.
    func take() throws(SystemCallError) -> RouteSocket.Taken?
}
