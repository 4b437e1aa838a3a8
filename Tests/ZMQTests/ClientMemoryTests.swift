internal import CZMQ
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import InMemoryBackend
internal import Platform
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// The bound of the memory that one client over a network takes, and its release.
    @Suite("The memory that a hub has for a client")
    struct ClientMemoryTests {
        @Test(
            "the parts follow the setting; less than one request, the subscriptions and 2 MiB for each other is refused"
        )
        func parts() async throws {
            let (standard, least) = (ClientMemory(), ClientMemory(byteCount: HubOptions.leastClientMemory))
            #expect(HubOptions(group: "g", storage: .memory(MemorySpace()), endpoints: []).clientMemory == 54 << 20)
            #expect(standard.answerByteCount == 16 << 20 && least.answerByteCount == 2 << 20)
            #expect(standard.updateCount == 256 && least.updateCount == 32)
            #expect(ClientMemory(byteCount: 1 << 40).updateCount == HubEndpointListener.queueLimit)
            #expect(HubOptions.leastClientMemory == 26 << 20)
            for (seconds, count) in [(0, 2), (32, 3), (1_600, 52), (86_400, 64)] {
                #expect(RelayThread.streamByteCount(after: .seconds(seconds)) >> 10 == count)
            }
            var options = HubOptions(
                group: "group", storage: .memory(MemorySpace()), endpoints: [try HubEndpoint("inproc://memory")])
            options.clientMemory = HubOptions.leastClientMemory - 1
            try await expect(.invalidArgument, from: "a hub with too little for a client") { [options] in
                _ = try await Hub.start(options)
            }
        }

        private func connect(
            _ role: Socket.Role, _ stage: HubStage, to endpoint: HubEndpoint, receiveLimit: Int = 1
        ) throws -> Socket {
            let socket = try Socket(role, for: endpoint.description)
            let keys = try #require(try stage.clientKeys(for: endpoint))
            try socket.set(.curveServerKey, keys.hub.utf8)
            try socket.set(.curvePublicKey, keys.own.publicKey.utf8)
            try socket.set(.curveSecretKey, keys.own.secretKey.utf8)
            try socket.set(.receiveLimit, receiveLimit)
            return socket
        }

        /// Makes a client that takes as much of the hub's memory as it may.
        private func greedy(
            _ number: UInt8, _ stage: HubStage, at endpoint: HubEndpoint, stream: HubEndpoint
        ) async throws -> [Socket] {
            // Topics of 8 bytes that share no prefix take the most memory.
            let listener = try connect(.subscriber, stage, to: stream)
            try listener.set(.subscribe, StreamMessage.updatesTopic)
            for _ in 0..<20 {
                try listener.set(.subscribe, (0..<8).map { _ in UInt8.random(in: 128...255) })
            }
            try listener.connect()
            let socket = try connect(.dealer, stage, to: endpoint)
            try socket.connect()
            let hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: number, count: Wire.tokenByteCount), resumed: nil)
            let bytes = try Request(number: 1, body: .hello(hello)).bytes()
            try await eventually("hello is sent") { socket.send([bytes]) }
            var answer: IncomingMessage?
            try await eventually("the hub answers") {
                answer = socket.receive(upTo: 8)
                return answer != nil
            }
            guard case .welcome(let welcome) = try Reply(try #require(answer?.frames.first)).body else {
                throw HarnessLimitation("no welcome")
            }
            // Answers of 1 MiB each, which it does not read.
            for number in 2..<50 as Range<UInt64> {
                let question = try Request(number: number, nonce: welcome.nonce, body: .catchUp(after: nil)).bytes()
                try await eventually("a question is sent") { socket.send([question]) }
            }
            // A message of 24 MiB, of which the hub takes as much as it accepts.
            let part = [UInt8](repeating: 7, count: 64 << 10)
            for number in 1...384 {
                let flags = number < 384 ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
                #expect(part.withUnsafeBytes { zmq_send(socket.handle, $0.baseAddress, $0.count, flags) } == part.count)
            }
            return [listener, socket]
        }

        @Test("clients that take all that they may take no more than the setting allows, and leave it to the system")
        func lowSetting() async throws {
            let stage = try HubStage()
            let (count, memory) = (6, HubOptions.leastClientMemory)
            let hub = try await stage.hubProcess(
                at: .tcp(host: "127.0.0.1", port: 0), storage: "memory", memory: memory)
            let client = try await stage.client(at: hub.endpoint)
            guard case .tcp(let host, _) = hub.endpoint, let port = await client.link.streamPort else {
                throw HarnessLimitation("no port")
            }
            try await client.put("large", [UInt8](repeating: 1, count: 1 << 20))
            let before = try ProcessUse(of: hub.process.pid)
            var sockets: [Socket] = []
            for number in 1...UInt8(count) {
                sockets += try await greedy(number, stage, at: hub.endpoint, stream: .tcp(host: host, port: port))
            }
            var (most, quietRounds) = (before.residentByteCount, 0)
            try await eventually("nothing more is taken of them", timeout: TestTimeout.long) {
                for _ in 0..<20 { try await client.put("news", [UInt8](repeating: 2, count: 60 << 10)) }
                let use = try ProcessUse(of: hub.process.pid).residentByteCount
                quietRounds = use > most + (1 << 20) ? 0 : quietRounds + 1
                most = max(most, use)
                return quietRounds >= 20
            }
            let growth = most - before.residentByteCount
            #expect(growth > count * (10 << 20), "they take much: \(growth >> 20) MiB")
            // Not counted: memory that the library uses briefly to decrypt a message, and the journal's tail.
            #expect(growth < count * memory + (24 << 20), "\(growth >> 20) MiB")
            for socket in sockets { socket.close() }
            try await eventually("the hub gives it back", timeout: TestTimeout.long) {
                try await client.put("news", [1])
                return try ProcessUse(of: hub.process.pid).residentByteCount < before.residentByteCount + (32 << 20)
            }
            await client.close()
            hub.process.signal(.kill)
        }

        @Test("what the hub has taken in of a client and not answered yet counts: others have their room")
        func requestsInHand() async throws {
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try HubService(
                order: order,
                options: HubOptions(
                    group: "group", storage: .memory(MemorySpace()),
                    endpoints: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint],
                    keys: CurveHubKeys(own: stage.keys.hub, clients: [stage.keys.client.publicKey])))
            let endpoint = try await service.start()[0]
            let client = try await stage.client()
            let flood = try RawClient(at: endpoint, keys: stage.clientKeys(for: endpoint))
            let hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: 1, count: Wire.tokenByteCount), resumed: nil)
            guard case .welcome = try await flood.ask(.hello(hello)).body else { throw HarnessLimitation("no welcome") }
            order.hold()
            let commit = Task { try await client.put("k", [1]) }
            try await eventually("a request waits for the order") { order.waitingCount == 1 }
            for _ in 0..<40 { try await flood.say([UInt8](repeating: 0xFF, count: 1 << 20)) }
            try await eventually("the hub has what it may have of it") { await service.intake.byteCount >= 16 << 20 }
            // The thread polls its sockets after each of these jobs.
            for _ in 0..<500 { #expect(await service.intake.byteCount <= ClientMemory.requestByteCount + (1 << 20)) }
            order.letGo()
            #expect(try await withTimeout(TestTimeout.usual, "the commit ends") { try await commit.value }.changed)
            var answered = 0
            try await eventually("all of the flood is answered") {
                while try flood.hear() != nil { answered += 1 }
                return answered == 40
            }
            await client.close()
            await service.stop()
        }

        @Test("L4: for a reader that takes no answer the hub makes no more of them, however often it asks")
        func greedyReader() async throws {
            let stage = try HubStage()
            let refreshCount = Atomic(0)
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20)) {
                refreshCount.add(1, ordering: .relaxed)
            }
            let service = try HubService(
                order: order,
                options: HubOptions(
                    group: "group", storage: .memory(MemorySpace()),
                    endpoints: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint],
                    keys: CurveHubKeys(own: stage.keys.hub, clients: [stage.keys.client.publicKey])))
            let endpoint = try await service.start()[0]
            let client = try await stage.client()
            for index in 0..<4 { try await client.put(Key("large\(index)"), [UInt8](repeating: 1, count: 1 << 20)) }
            let reader = try connect(.dealer, stage, to: endpoint)
            try reader.connect()
            order.hold()
            let commit = Task { try await client.put("k", [1]) }
            try await eventually("a request waits for the order") { order.waitingCount == 1 }
            let before = refreshCount.load(ordering: .relaxed)
            for number in 1...60 as ClosedRange<UInt64> {
                let question = try Request(number: number, body: .view(group: "group")).bytes()
                try await eventually("the reader asks") { reader.send([question]) }
            }
            try await eventually("the hub has taken its questions in") { await service.intake.count >= 60 }
            order.letGo()
            try await eventually("they are answered, or dropped") { await service.intake.count == 0 }
            #expect(try await withTimeout(TestTimeout.usual, "the commit ends") { try await commit.value }.changed)
            let made = refreshCount.load(ordering: .relaxed) - before
            #expect((1..<30).contains(made), "\(made) answers of 4 MiB were made")
            reader.close()
            await client.close()
            await service.stop()
        }

        @Test(
            "a connection of the stream that subscribes without an end is cut, however often it comes again",
            arguments: [4_000, 40])
        func subscriptions(byteCount: Int) async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess(at: .tcp(host: "127.0.0.1", port: 0), storage: "memory")
            let client = try await stage.client(at: hub.endpoint)
            guard case .tcp(let host, _) = hub.endpoint, let port = await client.link.streamPort else {
                throw HarnessLimitation("no port")
            }
            let stream = HubEndpoint.tcp(host: host, port: port)
            let before = try ProcessUse(of: hub.process.pid).residentByteCount
            var most = before
            // A million short ones in total in long runs. The hub accepts 20 of each connection, or none.
            let rounds = TestScope.isCheck ? 40 : 8
            let (connections, subscriptions) = (25, byteCount > 1_000 ? 100 : 1_000)
            for round in 0..<rounds {
                var attackers = try (0..<connections).map { number in
                    let socket = try connect(.subscriber, stage, to: stream)
                    for index in 0..<subscriptions {
                        let name = withUnsafeBytes(of: (round * connections + number) * subscriptions + index) {
                            Array($0)
                        }
                        try socket.set(.subscribe, name + [UInt8](repeating: 9, count: byteCount - 8))
                    }
                    let events = try ConnectionEvents(of: socket)
                    try socket.connect()
                    return (socket: socket, events: events)
                }
                try await eventually("each connection is cut", timeout: TestTimeout.long) {
                    attackers.removeAll { socket, events in
                        _ = socket.receive(upTo: 1)
                        events.socket.signal()
                        while let event = events.next() {
                            guard event == .lost else { continue }
                            events.close()
                            socket.close()
                            return true
                        }
                        return false
                    }
                    return attackers.isEmpty
                }
                #expect(try await client.put("k", [UInt8(round & 0xFF)]).changed)
                most = max(most, try ProcessUse(of: hub.process.pid).residentByteCount)
            }
            print(
                "\(rounds * connections * subscriptions) subscriptions of \(byteCount) bytes: \((most - before) >> 20) MiB"
            )
            #expect(most < before + (64 << 20), "\(before >> 20) and \(most >> 20) MiB")
            #expect(try await client.sessions().map(\.id) == [client.session.id])
            await client.close()
            hub.process.signal(.kill)
        }

        @Test("a hundred connections that have subscribed to as much as they may end in a moment")
        func endOfSubscriptions() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess(at: .tcp(host: "127.0.0.1", port: 0), storage: "memory")
            let client = try await stage.client(at: hub.endpoint)
            guard case .tcp(let host, _) = hub.endpoint, let port = await client.link.streamPort else {
                throw HarnessLimitation("no port")
            }
            let before = try ProcessUse(of: hub.process.pid).descriptorCount
            var random = SeededRandom(seed: 1)
            let listeners = try (0..<100).map { _ in
                let socket = try connect(.subscriber, stage, to: .tcp(host: host, port: port))
                // Topics of two different bytes branch the most.
                for _ in 0..<150 {
                    try socket.set(.subscribe, (0..<32).map { _ in Bool.random(using: &random) ? 0 : 255 })
                }
                let events = try ConnectionEvents(of: socket)
                try socket.connect()
                return (socket: socket, events: events)
            }
            for (_, events) in listeners {
                try await eventually("it is let in", timeout: TestTimeout.long) {
                    events.socket.signal()
                    while let event = events.next() { if event == .ready { return true } }
                    return false
                }
            }
            #expect(try await client.put("k", [1]).changed)
            let time = try ProcessUse.processorTime(of: hub.process.pid)
            for (socket, events) in listeners {
                events.close()
                socket.close()
            }
            try await eventually("they are gone") {
                try ProcessUse(of: hub.process.pid).descriptorCount <= before + 8
            }
            // The echo of a subscription comes after all work that the hub has for those.
            let probe = try connect(.subscriber, stage, to: .tcp(host: host, port: port))
            try probe.set(.subscribe, [StreamMessage.armedTopic] + [UInt8](repeating: 1, count: 16))
            try probe.connect()
            try await eventually("the hub answers", timeout: TestTimeout.long) { probe.receive(upTo: 1) != nil }
            probe.close()
            #expect(try await client.put("k", [2]).changed)
            // Measured: 10 ms; with 16 KiB of subscriptions each, 16 s and more.
            let used = try ProcessUse.processorTime(of: hub.process.pid) - time
            #expect(used < .seconds(4), "\(used)")
            await client.close()
            hub.process.signal(.kill)
        }

        @Test("freed memory is given back 2 s after 8 MiB were used, once")
        func heapReturn() {
            var heap = HeapReturn()
            let now = BootInstant(nanoseconds: 1_000_000_000)
            heap.use(HeapReturn.byteCount - 1, at: now)
            #expect(heap.due == nil && !heap.isDue(at: now.advanced(by: .seconds(60))))
            heap.use(1, at: now)
            heap.use(HeapReturn.byteCount, at: now.advanced(by: .seconds(1)))
            #expect(heap.due == now.advanced(by: HeapReturn.delay))
            #expect(!heap.isDue(at: now.advanced(by: .seconds(1))) && heap.isDue(at: now.advanced(by: .seconds(2))))
            #expect(heap.due == nil)
            heap.use(HeapReturn.byteCount - 1, at: now)
            #expect(heap.due == nil)
        }
    }
}
