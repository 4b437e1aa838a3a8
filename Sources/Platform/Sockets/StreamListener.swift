internal import CLinux
internal import Glibc

/// A socket that programs connect to. It never waits.
package final class StreamListener: Sendable {
    /// The descriptor to poll for reading: readable when a client connects.
    package let descriptor: Int32
    /// The address it listens at, for messages.
    package let location: String
    /// The port, if it has one.
    package let port: UInt16?

    private let path: String?
    /// The identity of its file at the path.
    private let identity: FileStatus.Identity?

    /// Listens at a path, and replaces a leftover socket. Only this user may connect.
    ///
    /// - Throws: The error of a taken address, if another process listens or the path has a file that is no socket;
    ///   EINVAL for a path that begins with `@`, which would be an abstract name.
    package init(path: String) throws(SystemCallError) {
        guard !path.hasPrefix("@") else { throw SystemCallError("bind", number: EINVAL, at: path) }
        if let status = try? FileStatus(ofPath: path), status.isSocket {
            let other = clinux_connect_to(path)
            if other >= 0 { Glibc.close(other) }
            // No process has it open any more, so it may be removed.
            if other == -ECONNREFUSED { unlink(path) }
        }
        descriptor = try SystemCall.negated("bind", at: path) { clinux_listen_at(path) }
        identity = (try? FileStatus(ofPath: path))?.identity
        location = path
        port = nil
        self.path = path
    }

    /// Listens at an abstract name, to which every user of the machine may connect.
    ///
    /// - Parameter name: The name without its first byte, which is zero and written as `@`.
    /// - Throws: The error of a taken name.
    package init(abstractName name: String) throws(SystemCallError) {
        descriptor = try SystemCall.negated("bind", at: "@" + name) { clinux_listen_at("@" + name) }
        location = "@" + name
        port = nil
        path = nil
        identity = nil
    }

    /// Listens at a port of the loopback interface; 0 chooses a free one.
    package init(loopbackPort number: UInt16) throws(SystemCallError) {
        var chosen: UInt16 = 0
        descriptor = try SystemCall.negated("bind", at: "127.0.0.1:\(number)") {
            clinux_listen_on_loopback(number, &chosen)
        }
        location = "127.0.0.1:\(chosen)"
        port = chosen
        path = nil
        identity = nil
    }

    /// Listens at a port of a host; 0 chooses a free one.
    ///
    /// - Parameter host: An address, a name, or `*` for every address. A name is looked up, which may wait.
    package init(host: String, port number: UInt16) throws(SystemCallError) {
        var chosen: UInt16 = 0
        let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        descriptor = try SystemCall.negated("bind", at: "\(host):\(number)") {
            clinux_listen_on(name, number, &chosen)
        }
        location = "\(host):\(chosen)"
        port = chosen
        path = nil
        identity = nil
    }

    deinit {
        // Another socket may have replaced it.
        if let path, let identity, (try? FileStatus(ofPath: path))?.identity == identity { unlink(path) }
        Glibc.close(descriptor)
    }

    /// Stops listening at once, even while other references exist: its address is then free.
    package func stop() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Returns the next connection; nil if none waits.
    ///
    /// - Throws: If the system has no descriptor left. Waiting clients keep waiting.
    package func accept() throws(SystemCallError) -> StreamConnection? {
        while true {
            let number = clinux_accept(descriptor)
            if number == -EINTR || number == -ECONNABORTED { continue }
            if number == -EAGAIN { return nil }
            if number < 0 { throw SystemCallError("accept4", number: -number, at: location) }
            return StreamConnection(owning: number)
        }
    }

    /// Returns the next connection over TCP, with the other end's address; nil if none waits.
    ///
    /// - Throws: The errors of ``accept()``.
    package func acceptWithAddress() throws(SystemCallError) -> (connection: StreamConnection, address: String)? {
        var text = [CChar](repeating: 0, count: 64)
        while true {
            let number = clinux_accept_from(descriptor, &text, text.count)
            if number == -EINTR || number == -ECONNABORTED { continue }
            if number == -EAGAIN { return nil }
            if number < 0 { throw SystemCallError("accept4", number: -number, at: location) }
            let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return (StreamConnection(owning: number), String(decoding: bytes, as: UTF8.self))
        }
    }
}
