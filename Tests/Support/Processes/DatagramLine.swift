internal import Glibc
internal import Platform
internal import Synchronization

/// A UDP port with a thread of its own that reads datagrams at once: the kernel drops those for which the socket has
/// no room.
package final class DatagramLine: Sendable {
    package let port: UInt16
    private let socket: OpenFile
    private let closing: EventCounter
    private let texts: TextList

    private final class TextList: Sendable {
        let content = Mutex<[String]>([])
    }

    package init() throws {
        let socket = OpenFile(
            owning: Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0), path: "line")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.descriptor, $0, size) == 0 ? getsockname(socket.descriptor, $0, &size) : -1
            }
        }
        guard result == 0 else { throw SystemCallError("bind", number: errno, at: "line") }
        port = UInt16(bigEndian: address.sin_port)
        let closing = try EventCounter()
        let texts = TextList()
        self.socket = socket
        self.closing = closing
        self.texts = texts
        try OwnedThread.start("line") {
            while !Poll.wait(for: [closing.descriptor, socket.descriptor], timeout: nil)[0] {
                Self.empty(socket, into: texts)
            }
        }
    }

    deinit { closing.raise() }

    /// Returns the datagrams that have come since the last call.
    package func received() -> [String] {
        Self.empty(socket, into: texts)
        return texts.content.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }

    /// Reads all waiting datagrams, under the lock so that their order is kept.
    private static func empty(_ socket: OpenFile, into texts: TextList) {
        texts.content.withLock { texts in
            var buffer = [UInt8](repeating: 0, count: 64)
            while true {
                let count = recv(socket.descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                texts.append(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
        }
    }
}
