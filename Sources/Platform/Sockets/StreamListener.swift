internal import CLinux
internal import Glibc

/// A socket that programs of this machine connect to. It never waits.
package final class StreamListener: Sendable {
    /// The descriptor to poll for reading: readable when somebody connects.
    package let descriptor: Int32
    /// Where it listens, for people.
    package let location: String
    /// The port, for one of the loopback interface.
    package let port: UInt16?

    private let path: String?

    /// Listens at a path, in place of whatever socket was left there. Only this user may connect.
    ///
    /// Whoever calls this must have made sure that nobody else listens there.
    package init(path: String) throws(SystemCallError) {
        if let status = try? FileStatus(ofPath: path), status.isSocket { unlink(path) }
        descriptor = try SystemCall.negated("bind", at: path) { clinux_listen_at(path) }
        location = path
        port = nil
        self.path = path
    }

    /// Listens at a port of the loopback interface; at any free one for 0.
    package init(loopbackPort number: UInt16) throws(SystemCallError) {
        var chosen: UInt16 = 0
        descriptor = try SystemCall.negated("bind", at: "127.0.0.1:\(number)") {
            clinux_listen_on_loopback(number, &chosen)
        }
        location = "127.0.0.1:\(chosen)"
        port = chosen
        path = nil
    }

    deinit {
        if let path { unlink(path) }
        Glibc.close(descriptor)
    }

    /// The next who has connected; nil when nobody waits, or the system has no descriptor left.
    package func accept() -> StreamConnection? {
        while true {
            let number = clinux_accept(descriptor)
            if number == -EINTR || number == -ECONNABORTED { continue }
            return number < 0 ? nil : StreamConnection(owning: number)
        }
    }
}
