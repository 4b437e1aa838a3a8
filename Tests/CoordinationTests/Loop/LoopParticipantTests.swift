import Coordination
import CoreAPI
import CoreAPITesting
import FileNotifyBackend
import Glibc
import InMemoryBackend
import Listings
import Platform
import TestSupport
import Testing

/// The stack in C of the pages, as the core of real participants.
@Suite("LoopCore: a stack in C")
struct LoopParticipantTests {
    /// The backend of a test's group.
    enum Place: Sendable, CaseIterable {
        case memory, files
    }

    private let server: DatagramServer
    private let directory: TemporaryDirectory
    private let space = MemorySpace()

    init() throws {
        server = try DatagramServer()
        directory = try TemporaryDirectory()
    }

    private func open(_ place: Place, as role: SessionRole, _ name: String) async throws -> any SharedGroup {
        let description = SessionDescription(role: role, name: name)
        return switch place {
        case .memory: try await space.open("group", as: description)
        case .files: try await FileGroup.open(directory: directory.path(of: "group"), as: description)
        }
    }

    @Test("C8: its message is stored, and acknowledged to its server only then", arguments: Place.allCases)
    func delivers(place: Place) async throws {
        let group = try await open(place, as: .executor, "executor")
        let port = server.port
        let message = try await group.withExecutor(options: .patient, core: { LoopCore { datagramStack(port: port) } })
        {
            executor in
            server.send("call-1", "hello")
            let answer = try await executor.message(forCallID: .of("call-1"), timeout: TestTimeout.usual)
            let taken = try #require(answer.taken)
            try await executor.acknowledge(taken)
            return taken.message
        }
        #expect(message == (try InboxMessage.datagram("call-1", "hello")))
        #expect(server.log.prefix(1) == ["REGISTER"])
        #expect(server.log.contains("ACK call-1"))
        #expect(server.log.last == "UNREGISTER")
    }

    @Test(
        "C3: a loop hands over to a loop: the first unregisters before the second registers", arguments: Place.allCases)
    func handsOver(place: Place) async throws {
        let port = server.port
        let executor = try ExecutorParticipant(
            of: try await open(place, as: .executor, "executor"), options: .patient
        ) { LoopCore { datagramStack(port: port) } }
        try await executor.start()
        try await eventually("it registers") { server.clients.count == 1 }

        let main = try MainParticipant(of: try await open(place, as: .main, "main"), options: .patient) {
            LoopCore { datagramStack(port: port) }
        }
        try await main.start()
        try await eventually("the other registers") { server.clients.count == 2 }
        await main.stop()
        await executor.close()

        // Each client repeats its request until it is answered.
        let (first, second) = (server.clients[0], server.clients[1])
        let order = server.requests.reduce(into: [String]()) { order, request in
            if order.last != request { order.append(request) }
        }
        #expect(order == ["\(first) REGISTER", "\(first) UNREGISTER", "\(second) REGISTER", "\(second) UNREGISTER"])
    }
}

extension InboxMessage {
    fileprivate static func datagram(_ callID: String, _ text: String) throws -> InboxMessage {
        InboxMessage(callID: try .of(callID), content: .text(from: "datagram", to: "me", text: text))
    }
}

/// The server of the stack: it registers and unregisters each client, and sends a message until it is acknowledged.
private final class DatagramServer: Sendable {
    private struct State {
        var received: [(client: UInt16, line: String)] = []
        var unacknowledged: [String: String] = [:]
    }

    let port: UInt16
    private let descriptor: Int32
    private let ending: EventCounter
    private let state = Box(State())

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { address in
                guard let address = address.baseAddress else { return false }
                return bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else { throw SystemCallError("bind", number: errno, at: "test") }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        ending = try EventCounter()
        try OwnedThread.start("test server") { [ending, state] in
            Self.serve(descriptor, until: ending, state)
            close(descriptor)
        }
    }

    deinit {
        ending.raise()
    }

    /// The lines received, without immediate repetitions.
    var log: [String] {
        state.value.received.map(\.line).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// The ports of the clients, in the order in which they came.
    var clients: [UInt16] {
        state.value.received.map(\.client).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The registrations and the ends of them.
    var requests: [String] {
        state.value.received.filter { $0.line.hasSuffix("REGISTER") }.map { "\($0.client) \($0.line)" }
    }

    /// Sends a message to the client that registers next, or requests next.
    func send(_ id: String, _ text: String) {
        state.update { $0.unacknowledged[id] = text }
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func serve(_ descriptor: Int32, until ending: EventCounter, _ state: Box<State>) {
        while true {
            guard !Poll.wait(for: [descriptor, ending.descriptor], timeout: nil)[1] else { return }
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = withUnsafeMutableBytes(of: &address) { address in
                recvfrom(
                    descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT),
                    address.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            guard count >= 0 else { continue }
            let line = String(decoding: bytes[..<count], as: UTF8.self)
            let client = UInt16(bigEndian: address.sin_port)
            var answers: [String] = []
            state.update { state in
                state.received.append((client, line))
                switch line {
                case "REGISTER": answers = ["OK"] + state.unacknowledged.map { "MESSAGE \($0.key) \($0.value)" }
                case "UNREGISTER": answers = ["BYE"]
                default: state.unacknowledged[String(line.dropFirst(4))] = nil
                }
            }
            for answer in answers {
                let text = Array(answer.utf8)
                _ = withUnsafeBytes(of: &address) { address in
                    sendto(
                        descriptor, text, text.count, 0, address.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                        length)
                }
            }
        }
    }
}
