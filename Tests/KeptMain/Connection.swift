import Glibc
import Platform

/// A connection over TCP from which lines are read.
struct Connection: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { base in
                connect(descriptor, base, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, result == 0 else { throw ConnectionEnd() }
    }

    /// Waits for a line. The line is noted before it is removed from the connection: a Main that is killed in between
    /// leaves it there.
    func line(notingIn notebook: Notebook) throws(ConnectionEnd) -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ConnectionEnd() }
            guard let end = buffer.prefix(count).firstIndex(of: UInt8(ascii: "\n")) else { continue }
            let line = String(decoding: buffer[..<end], as: UTF8.self)
            do { try notebook.write("read \(line)") } catch { throw ConnectionEnd() }
            guard recv(descriptor, &buffer, end + 1, 0) == end + 1 else { throw ConnectionEnd() }
            return line
        }
    }

    static func exit(_ status: Int32) throws -> Never {
        Glibc.exit(status)
    }
}

/// The server has closed the connection, or it failed.
struct ConnectionEnd: Error {}
