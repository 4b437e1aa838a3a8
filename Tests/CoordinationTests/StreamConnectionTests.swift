internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// A connection between programs.
@Suite("A stream connection")
struct StreamConnectionTests {
    @Test("Connecting to a port whose queue is full does not wait, and the connection comes when there is space")
    func fullQueue() async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        let port = try #require(Self.listen(listener))
        let isOver = Box(false)
        // The queue takes one connection. The kernel does not answer the other one until that is accepted.
        let connections = Task {
            try await SerialThread(name: "connecting").run { () throws(SystemCallError) in
                var connections: [StreamConnection] = []
                for _ in 0..<2 { connections.append(try StreamConnection(toLoopbackPort: port)) }
                isOver.update { $0 = true }
                return connections
            }
        }
        try await eventually("all calls have returned") { isOver.value }
        let all = try await connections.value
        let waiting = try #require(all.last)
        #expect(waiting.receive(upTo: 1) == .nothing)
        // A thread takes the connections from the queue: the kernel then answers to what it repeats.
        let accepting = SerialThread(name: "accepting")
        for _ in all {
            accepting.submit { _ = send(accept(listener, nil, nil), [7] as [UInt8], 1, Int32(MSG_NOSIGNAL)) }
        }
        try await eventually("the last connection receives") { waiting.hasUnread }
        await accepting.run {}
    }

    @Test("A connection to a port at which nothing listens fails, or ends")
    func nothingListens() async throws {
        let listener = try StreamListener(loopbackPort: 0)
        let port = try #require(listener.port)
        listener.stop()
        guard let connection = try? StreamConnection(toLoopbackPort: port) else { return }
        try await eventually("it has ended") { connection.receive(upTo: 1) == .end }
    }

    /// Listens at a free port of the loopback interface with the shortest queue.
    private static func listen(_ listener: Int32) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                bind(listener, address, length) == 0, Glibc.listen(listener, 0) == 0,
                getsockname(listener, address, &length) == 0
            else { return nil }
            return UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
