internal import CoreAPITesting
internal import Glibc
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// The layer over the library.
    @Suite("Sockets")
    struct SocketTests {
        private let place: TemporaryDirectory
        private let asking: Socket
        private let answering: Socket

        /// Two sockets that know each other.
        init() throws {
            place = try TemporaryDirectory()
            let endpoint = "ipc://" + place.path(of: "s")
            answering = try Socket(.router, for: endpoint)
            try answering.bind()
            asking = try Socket(.dealer, for: endpoint)
            try asking.connect()
        }

        private func isReadable(_ socket: Socket) -> Bool {
            var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) == 1
        }

        /// The name that the answering side has for the other.
        private func greet() async throws -> [UInt8] {
            #expect(asking.send([[1]]))
            let first = Box<IncomingMessage?>(nil)
            try await eventually("the first message is there") {
                first.update { $0 = answering.receive(upTo: 2) }
                return first.value != nil
            }
            return try #require(first.value?.frames.first)
        }

        @Test(
            "a message of which the descriptor tells no more, because a send has taken the news in, is not overlooked")
        func takenInBySending() async throws {
            let name = try await greet()
            #expect(asking.next(upTo: 1) == nil)
            // The library may still have reports on the connection.
            try await eventually("all is quiet") {
                asking.signal()
                return asking.next(upTo: 1) == nil && !isReadable(asking)
            }
            #expect(answering.send([name, [2]]))
            try await eventually("the descriptor tells of the message") { isReadable(asking) }
            try await eventually("sending has taken it in") {
                _ = asking.send([[3]])
                return !isReadable(asking)
            }
            #expect(asking.hasInput())
            #expect(asking.next(upTo: 1)?.frames == [[2]])
        }

        @Test("who sent a message is told for those of which it is asked")
        func peers() async throws {
            _ = try await greet()
            for isWanted in [true, false] {
                #expect(asking.send([[4]]))
                let found = Box<IncomingMessage?>(nil)
                try await eventually("the message is there") {
                    found.update { $0 = answering.receive(upTo: 2, peer: { _ in isWanted }) }
                    return found.value != nil
                }
                #expect(found.value?.peer.process?.pid == (isWanted ? getpid() : nil))
            }
        }
    }
}
