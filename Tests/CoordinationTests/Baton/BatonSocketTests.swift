import CoreAPITesting
import Glibc
import Platform
import TestSupport
import Testing

/// Sealed files and messages with several descriptors (contract C25).
@Suite("Baton: what carries it")
struct BatonSocketTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func connected() throws -> (MessageSocket, MessageSocket) {
        let path = directory.path(of: "socket")
        let listener = try MessageSocket(listeningAt: path)
        let client = try MessageSocket(connectingTo: path)
        return (client, try #require(try listener.accept()))
    }

    @Test("Descriptors arrive in their order, each a duplicate that nothing inherits", arguments: [0, 1, 2, 16])
    func several(count: Int) throws {
        let (client, server) = try connected()
        let pipes = try (0..<count).map { _ in try Pipe() }
        try client.send([1, 2], with: pipes.map(\.input))
        guard case .message(let bytes, let files) = server.receive(upTo: 8, files: 16) else {
            return #expect(Bool(false), "no message")
        }
        #expect(bytes == [1, 2] && files.count == count)
        for (number, (file, pipe)) in zip(files, pipes).enumerated() {
            #expect(fcntl(file.descriptor, F_GETFD) == FD_CLOEXEC)
            try OpenFile(duplicating: file.descriptor).writeStream([UInt8(number)])
            #expect(try pipe.output.readPart(upTo: 8) == [UInt8(number)])
        }
    }

    @Test("Descriptors without room are closed, and so are those of a message that is too long")
    func surplus() throws {
        let (client, server) = try connected()
        for (room, limit) in [(1, 8), (0, 8), (16, 1)] {
            let pipe = try Pipe()
            var input: OpenFile? = pipe.input
            try client.send([1, 2], with: [pipe.input, pipe.input, pipe.input])
            let arrival = server.receive(upTo: limit, files: room)
            switch arrival {
            case .message(_, let files): #expect(limit == 8 && files.count == room)
            case .tooLong: #expect(limit == 1)
            case .nothing, .end: #expect(Bool(false))
            }
            withExtendedLifetime(arrival) {}
            input = nil
            _ = input
        }
        #expect(throws: SystemCallError.self) {
            try client.send([1], with: Array(repeating: try Pipe().input, count: 254))
        }
    }

    @Test("No process changes a sealed file", arguments: [0, 1, 64 << 10])
    func sealed(count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let file = try OpenFile.sealed(content, as: "test")
        #expect(file.isSealed)
        #expect(try file.status().byteCount == count)
        #expect(try file.read(count: count, at: 0) == content)
        #expect(throws: SystemCallError.self) { try file.write([1], at: 0) }
        #expect(throws: SystemCallError.self) { try file.truncate(to: count + 1) }
        #expect(throws: SystemCallError.self) { try file.truncate(to: count - 1) }
        #expect(try !Pipe().input.isSealed)
        #expect(try !OpenFile(path: directory.path(of: "file"), .createNew).isSealed)
    }
}
