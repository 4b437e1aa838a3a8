internal import CZMQ
internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Each test shortens one of the times, and sets the others to a minute, so that they do not end its connection.
    @Suite("A connection at a port that does nothing is let go in its time")
    struct ConnectionTimesTests {
        private static let long = Duration.seconds(60)

        private static func times(_ change: (inout ConnectionTimes) -> Void) -> ConnectionTimes {
            var times = ConnectionTimes()
            (times.key, times.hello, times.blocked, times.heartbeat, times.silence) = (long, long, long, long, long)
            change(&times)
            return times
        }

        /// A hub in memory at a port, with leases that outlast each test.
        private func hub(_ stage: HubStage, _ times: ConnectionTimes) async throws -> (Hub, UInt16) {
            var options = HubOptions(
                group: "group", storage: .memory(MemorySpace()), endpoints: [.tcp(host: "127.0.0.1", port: 0)],
                keys: try CurveHubKeys(own: stage.keys.hub, clients: [stage.keys.client.publicKey]), lease: Self.long)
            options.times = times
            let hub = try await Hub.start(options)
            guard case .tcp(_, let port)? = hub.endpoints.first else { throw HarnessLimitation("no port") }
            return (hub, port)
        }

        private func connect(_ stage: HubStage, at port: UInt16, receiveLimit: Int? = nil) throws -> Socket {
            let endpoint = HubEndpoint.tcp(host: "127.0.0.1", port: port)
            let socket = try Socket(.dealer, for: endpoint.description)
            let keys = try expectSome(try stage.clientKeys(for: endpoint), "keys")
            try socket.set(.curveServerKey, keys.hub.utf8)
            try socket.set(.curvePublicKey, keys.own.publicKey.utf8)
            try socket.set(.curveSecretKey, keys.own.secretKey.utf8)
            if let receiveLimit { try socket.set(.receiveLimit, receiveLimit) }
            return socket
        }

        /// Sends hello, and returns the hub's welcome.
        private func join(_ socket: Socket) async throws -> Reply.Welcome {
            let hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: 1, count: Wire.tokenByteCount), resumed: nil)
            let bytes = try Request(number: 1, body: .hello(hello)).bytes()
            try await eventually("hello is sent") { socket.send([bytes]) }
            var answer: IncomingMessage?
            try await eventually("the hub answers") {
                answer = socket.receive(upTo: 8)
                return answer != nil
            }
            guard case .welcome(let welcome) = try Reply(try expectSome(answer?.frames.first, "a frame")).body else {
                throw HarnessLimitation("no welcome")
            }
            return welcome
        }

        @Test(
            "a key is proved in time, by connections that say nothing and by those with a key that is made up",
            arguments: [Stranger.Opening.silence, .falseKey])
        func key(opening: Stranger.Opening) async throws {
            let stage = try HubStage()
            let (hub, port) = try await hub(stage, Self.times { $0.key = .seconds(1) })
            let begin = ContinuousClock.now
            let stranger = try Stranger(at: .tcp(host: "127.0.0.1", port: port), opening)
            try await eventually("it is closed") {
                stranger.listen()
                return stranger.isClosed
            }
            // The library may refuse an invalid key at once.
            if opening == .silence { #expect(ContinuousClock.now - begin >= .seconds(1)) }
            await hub.stop()
        }

        @Test("a client with a key says hello in time")
        func hello() async throws {
            let stage = try HubStage()
            let (hub, port) = try await hub(stage, Self.times { $0.hello = .seconds(1) })
            let silent = try connect(stage, at: port)
            let events = try ConnectionEvents(of: silent)
            try silent.connect()
            let begin = ContinuousClock.now
            var heard: [ConnectionEvents.Event] = []
            try await eventually("it is cut") {
                events.socket.signal()
                while let event = events.next() { heard.append(event) }
                return heard.contains(.lost)
            }
            #expect(Array(heard.prefix(2)) == [.connected, .ready], "its key is proved")
            #expect(ContinuousClock.now - begin >= .seconds(1))
            events.close()
            silent.close()
            await hub.stop()
        }

        @Test("L4: a reader that was answered may take its time; it says no hello")
        func reader() async throws {
            let stage = try HubStage()
            let (hub, port) = try await hub(stage, Self.times { $0.hello = .seconds(1) })
            let reader = try connect(stage, at: port)
            let readerEvents = try ConnectionEvents(of: reader)
            try reader.connect()
            func ask() async throws {
                let question = try Request(number: 1, body: .view(group: "group")).bytes()
                try await eventually("the reader asks") { reader.send([question]) }
                try await eventually("it is answered") { reader.receive(upTo: 8) != nil }
            }
            try await ask()
            // The second client connects later, so its time ends later.
            let silent = try connect(stage, at: port)
            let events = try ConnectionEvents(of: silent)
            try silent.connect()
            try await eventually("another one that says nothing is cut") {
                events.socket.signal()
                while let event = events.next() { if event == .lost { return true } }
                return false
            }
            try await ask()
            readerEvents.socket.signal()
            var heard: [ConnectionEvents.Event] = []
            while let event = readerEvents.next() { heard.append(event) }
            #expect(heard == [.connected, .ready], "it is the first connection still")
            for events in [events, readerEvents] { events.close() }
            for socket in [silent, reader] { socket.close() }
            await hub.stop()
        }

        @Test("a client takes some of what waits for it in time")
        func blocked() async throws {
            let stage = try HubStage()
            let (hub, port) = try await hub(stage, Self.times { $0.blocked = .seconds(1) })
            let idle = try connect(stage, at: port, receiveLimit: 1)
            try idle.connect()
            let welcome = try await join(idle)
            func ask(_ number: UInt64, _ body: Request.Body) async throws {
                let bytes = try Request(number: number, nonce: welcome.nonce, body: body).bytes()
                try await eventually("it is sent") { idle.send([bytes]) }
            }
            let large = Transaction(operations: [.put("large", [UInt8](repeating: 1, count: 1 << 20), .persistent)])
            try await ask(2, .commit(large, known: .zero))
            for number in 3...40 as ClosedRange<UInt64> { try await ask(number, .catchUp(after: nil)) }
            let begin = ContinuousClock.now
            #expect(await hub.service.connectionCount == 1)
            try await eventually("it is cut") { await hub.service.connectionCount == 0 }
            #expect(ContinuousClock.now - begin >= .milliseconds(900))
            idle.close()
            await hub.stop()
        }

        @Test("a client that rests is kept; one whose machine answers no heartbeat is let go")
        func silentClient() async throws {
            let stage = try HubStage()
            let (hub, port) = try await hub(
                stage,
                Self.times { ($0.heartbeat, $0.silence) = (.milliseconds(250), .seconds(1)) })
            let line = try CuttableLine(to: port)
            let client = try connect(stage, at: line.port)
            try client.connect()
            _ = try await join(client)
            // The library of this client answers heartbeats, but the client sends no message.
            for _ in 0..<30 {
                try await Task.sleep(for: .milliseconds(100))
                #expect(await hub.service.connectionCount == 1)
            }
            line.cut()
            let begin = ContinuousClock.now
            try await eventually("it is let go") { await hub.service.connectionCount == 0 }
            #expect(ContinuousClock.now - begin >= .milliseconds(700))
            client.close()
            await hub.stop()
        }

        @Test("a state that takes longer on its line than the other end may be silent is one message all the same")
        func slowState() async throws {
            var stage = try HubStage()
            stage.lease = Self.long
            let hub = try await stage.hubAtFollowingPorts()
            let near = try await stage.client()
            for number in 0..<4 { try await near.put(Key("k\(number)"), [UInt8](repeating: 1, count: 1 << 20)) }
            await near.close()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub, bytesPerSecond: 1 << 20)
            let client = try await withTimeout(TestTimeout.usual, "the client joins") { [stage] in
                try await stage.client(at: endpoint) {
                    $0.times = Self.times { ($0.heartbeat, $0.silence) = (.milliseconds(250), .seconds(2)) }
                }
            }
            #expect(try await client.get("k3")?.value.count == 1 << 20)
            await client.close()
            withExtendedLifetime((requests, stream)) {}
            await hub.stop()
        }

        @Test("a hub whose machine answers no heartbeat is given up, and found again")
        func silentHub() async throws {
            var stage = try HubStage()
            stage.lease = Self.long
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let client = try await stage.client(at: endpoint) {
                $0.times = Self.times { ($0.heartbeat, $0.silence) = (.milliseconds(250), .seconds(1)) }
            }
            try await client.put("k", [1])
            requests.cut()
            stream.cut()
            try await eventually("the connection is given up") { await !client.link.isJoined }
            requests.heal()
            stream.heal()
            try await eventually("it is there again") { await client.link.isJoined }
            #expect(try await client.get("k")?.value == [1])
            await client.close()
            await hub.stop()
        }
    }
}

extension HubService {
    /// The number of connections that have a session.
    fileprivate var connectionCount: Int { addresses.count }
}

extension HubLink {
    fileprivate var isJoined: Bool {
        if case .joined = phase { true } else { false }
    }
}
