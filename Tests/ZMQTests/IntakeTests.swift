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
    /// The messages that a hub accepts, and the order of their senders.
    @Suite("A hub's intake")
    struct IntakeTests {
        @Test("what waits to be answered takes 64 MiB at most, and goes on when there is room")
        func bytes() async throws {
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try stage.service(order)
            _ = try await service.start()
            let client = try await stage.client()
            order.hold()
            let commit = Task { try await client.put("k", [1]) }
            try await eventually("a request waits for the order") { order.waitingCount == 1 }
            let byteCount = 1 << 20
            let flood = try (0..<4).map { _ in try RawClient(at: stage.endpoint) }
            for _ in 0..<30 {
                for raw in flood { try await raw.say([UInt8](repeating: 0xFF, count: byteCount)) }
            }
            let limit = Intake.byteLimit
            try await eventually("the intake is full") { await service.intake.byteCount >= limit }
            // The thread polls its sockets after each of these jobs.
            for _ in 0..<500 { #expect(await service.intake.byteCount <= limit + byteCount) }
            order.letGo()
            #expect(try await withTimeout(TestTimeout.usual, "the commit ends") { try await commit.value }.changed)
            var answered = 0
            try await eventually("all of the flood is answered") {
                for raw in flood { while try raw.hear() != nil { answered += 1 } }
                return answered == 120
            }
            #expect(await service.intake.byteCount == 0)
            await client.close()
            await service.stop()
        }

        @Test(
            "S10: content that a full disk refuses is tried again when a compaction brings room, else refused",
            arguments: [false, true])
        func regainedRoom(_ mustMakeRoom: Bool) async throws {
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try stage.service(order)
            _ = try await service.start()
            let client = try await stage.client()
            order.fill(canRegain: true, mustMakeRoom: mustMakeRoom)
            #expect(try await client.put("k", [1]).changed)
            order.fill(canRegain: false, mustMakeRoom: mustMakeRoom)
            await #expect { try await client.put("k", [2]) } throws: { ($0 as? SharedCoreError)?.code == .storageFull }
            #expect(try await client.get("k")?.value == [1])
            await client.close()
            await service.stop()
        }

        @Test("a flood at one endpoint does not keep out those that come to another")
        func fairness() async throws {
            let stage = try HubStage()
            let (flooded, other) = (
                HubEndpoint.ipc(path: stage.directory.path(of: "a")),
                HubEndpoint.ipc(path: stage.directory.path(of: "b"))
            )
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try HubService(
                order: order,
                options: HubOptions(group: "group", storage: .memory(MemorySpace()), endpoints: [flooded, other]))
            _ = try await service.start()
            let client = try await stage.client(at: other)
            order.hold()
            let held = Task { try await client.put("k", [1]) }
            try await eventually("a request waits for the order") { order.waitingCount == 1 }
            let flood = try (0..<20).map { _ in try RawClient(at: flooded) }
            for _ in 0..<300 { for raw in flood { try await raw.say([0xFF]) } }
            try await eventually("the intake is full") { await service.intake.isFull }
            let asked = Task { try await client.put("k", [2]) }
            // While the flood goes on, that one is sent as well.
            for _ in 0..<600 { for raw in flood { try await raw.say([0xFF]) } }
            order.letThrough()
            #expect(try await withTimeout(TestTimeout.usual, "the commit ends") { try await held.value }.changed)
            // No other client is answered while it waits.
            try await eventually("the other request waits for the order") { order.waitingCount == 1 }
            var answered = 0
            for raw in flood { while try raw.hear() != nil { answered += 1 } }
            #expect(answered < 12_000, "how many of 18,000 were answered first")
            order.letGo()
            #expect(try await withTimeout(TestTimeout.usual, "the other commit ends") { try await asked.value }.changed)
            await service.stop()
            await client.close()
        }

        @Test("a connection that always has a request keeps out none whose request comes while it is served")
        func requestsThatComeLater() async throws {
            let stage = try HubStage()
            let readCount = Atomic(0)
            // The order is so slow that the next request of the flood has always arrived.
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20)) {
                readCount.add(1, ordering: .relaxed)
                usleep(1_000)
            }
            let service = try stage.service(order, at: .tcp(host: "127.0.0.1", port: 0))
            let endpoint = try await service.start()[0]
            let (flood, _) = try await join(stage, endpoint, number: 1)
            let (other, _) = try await join(stage, endpoint, number: 2)
            let limit = 3_000
            let read = try Request(number: 1, nonce: flood.nonce, body: .read(known: .zero)).bytes()
            let flooding = Task { for _ in 0..<limit where !Task.isCancelled { try await flood.say(read) } }
            try await eventually("the flood is served") { readCount.load(ordering: .relaxed) > 200 }
            #expect(try await other.ask(.read(known: .zero)).number == 2)
            #expect(readCount.load(ordering: .relaxed) < limit, "how many reads of \(limit) came first")
            flooding.cancel()
            try await flooding.value
            await service.stop()
        }

        @Test("of a key that lets in ten connections and one that lets in one, each has every other turn")
        func turnsOfKeys() async throws {
            let stage = try HubStage()
            let single = try CurveKeyPair.generate()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try HubService(
                order: order,
                options: HubOptions(
                    group: "group", storage: .memory(MemorySpace()),
                    endpoints: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint],
                    keys: CurveHubKeys(
                        own: stage.keys.hub, clients: [stage.keys.client.publicKey, single.publicKey])))
            let endpoint = try await service.start()[0]
            let client = try await stage.client()
            order.hold()
            let held = Task { try await client.put("k", [1]) }
            try await eventually("a request waits for the order") { order.waitingCount == 1 }
            let ten = try (0..<10).map { _ in try RawClient(at: endpoint, keys: stage.clientKeys(for: endpoint)) }
            let one = try RawClient(
                at: endpoint, keys: CurveClientKeys(own: single, hub: stage.keys.hub.publicKey))
            for _ in 0..<5 { for raw in ten { try await raw.say([0xFF]) } }
            for _ in 0..<5 { try await one.say([0xFE]) }
            try await eventually("all wait for their turn") { await service.intake.count == 55 }
            var intake = await service.intake
            let first = (0..<10).compactMap { _ -> UInt8? in
                let next = intake.next()
                intake.charge(.milliseconds(1))
                return next?.message.frames.last?.first
            }
            #expect((4...5).contains(first.filter { $0 == 0xFE }.count), "\(first)")
            order.letGo()
            #expect(try await withTimeout(TestTimeout.usual, "the commit ends") { try await held.value }.changed)
            await client.close()
            await service.stop()
        }

        @Test("turns are shared by the time that answers take: between keys, then between the connections of one")
        func turns() throws {
            var intake = Intake()
            func append(_ number: UInt8, _ connection: UInt8, of key: String) {
                var message = IncomingMessage()
                message.frames = [[number]]
                message.peer = PeerAddress(text: "", user: key)
                intake.append(message, from: HubAddress(hubListener: 0, connection: [connection]))
            }
            /// Serves turns of some milliseconds each, and returns their connections.
            func serve(_ costs: Int...) throws -> [UInt8] {
                try costs.map { cost in
                    let next = intake.next()
                    intake.charge(.milliseconds(cost))
                    return try #require(next).address.connection[0]
                }
            }
            for number in 0..<10 as Range<UInt8> { append(number, 1, of: "heavy") }
            #expect(try serve(20) == [1])
            for number in 0..<3 as Range<UInt8> { append(number, 2, of: "light") }
            for number in 0..<3 as Range<UInt8> { append(number, 3, of: "heavy") }
            #expect(try serve(5, 5, 5) == [2, 2, 2], "the other key has as much before the first has more")
            #expect(try serve(5, 5, 5) == [3, 3, 3], "of one key, the connection that has had less")
            #expect(try serve(1, 1) == [1, 1])
            // A key that was idle gains no turns.
            for number in 0..<50 as Range<UInt8> { append(number, 2, of: "light") }
            let next = try serve(4, 4, 4, 4, 4, 4, 4, 4)
            #expect(next.filter { $0 == 1 }.count >= 3, "\(next)")
            #expect(intake.count == 10 - 1 - 2 + 50 - 8 && intake.byteCount == intake.count)
            // Nor has one that was idle while both connections of another key waited all the time.
            intake.removeAll()
            append(0, 2, of: "light")
            #expect(try serve(1) == [2])
            for number in 0..<60 as Range<UInt8> { append(number, 1 + 2 * (number % 2), of: "heavy") }
            for _ in 0..<10 { _ = try serve(100) }
            for number in 0..<20 as Range<UInt8> { append(number, 2, of: "light") }
            let shared = try serve(100, 100, 100, 100, 100, 100, 100, 100)
            #expect((3...5).contains(shared.filter { $0 == 2 }.count), "\(shared)")
            // After one long answer, the next request of its connection is not behind a flood, even if it comes at
            // once.
            intake.removeAll()
            append(3, 3, of: "heavy")
            #expect(try serve(5_000) == [3])
            append(3, 3, of: "heavy")
            for number in 0..<50 as Range<UInt8> { append(number, 1, of: "heavy") }
            #expect(try serve(1, 1).contains(3))
            intake.removeAll()
            #expect(intake.isEmpty && intake.next() == nil)
        }

        @Test(
            "a connection that repeats an unanswered request is served beside others that always have one",
            arguments: [true, false])
        func repeatedRequest(isProtected: Bool) {
            let armed = FailPoint.arm(isProtected ? "" : "hub.passedOver:fail*")
            defer { armed.disarm() }
            var intake = Intake()
            func append(_ connection: UInt8) {
                var message = IncomingMessage()
                message.frames = [[connection]]
                intake.append(message, from: HubAddress(hubListener: 0, connection: [connection]))
            }
            // A hello, the request, and what it has missed.
            for _ in 0..<3 { append(0) }
            for connection in 1..<20 as Range<UInt8> { append(connection) }
            var turns = 0
            var left = 3
            while left > 0, turns < 2_000, let next = intake.next() {
                turns += 1
                let connection = next.address.connection[0]
                intake.charge(.milliseconds(5))
                // The next request of a client comes when it has the answer to its last one.
                if connection == 0 { left -= 1 } else { append(connection) }
            }
            #expect(isProtected ? turns <= 3 * 2 * 20 : left == 2, "\(turns) turns, \(left) left")
        }

        @Test("a request that comes behind many of another connection has its turn before them")
        func laterRequest() async throws {
            let stage = try HubStage()
            let (service, order, _) = try await leasedService(stage, .seconds(60))
            let client = try await stage.client()
            let other = try await stage.client()
            order.hold()
            let many = (0..<50).map { number in
                Task { try await other.put(Key("many/\(number)"), [1]).revision.rawValue }
            }
            try await eventually("one waits for the order, and the rest behind it") {
                let waiting = await service.intake.count
                return order.waitingCount == 1 && waiting == 49
            }
            let late = Task { try await client.put("late", [1]).revision.rawValue }
            try await eventually("and one more") { await service.intake.count == 50 }
            order.letGo()
            let revision = try await withTimeout(TestTimeout.usual, "the late one ends") { try await late.value }
            var before = 0
            for put in many {
                before +=
                    try await withTimeout(TestTimeout.usual, "each ends") { try await put.value } < revision ? 1 : 0
            }
            #expect(before == 1, "the one that was being answered")
            await client.close()
            await other.close()
            await service.stop()
        }

        /// A service on an order that can be held, at a port and at the stage's socket.
        private func leasedService(
            _ stage: HubStage, _ lease: Duration
        ) async throws -> (HubService, HeldOrder, HubEndpoint) {
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try HubService(
                order: order,
                options: HubOptions(
                    group: "group", storage: .memory(MemorySpace()),
                    endpoints: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint],
                    keys: CurveHubKeys(own: stage.keys.hub, clients: [stage.keys.client.publicKey]), lease: lease))
            return (service, order, try await service.start()[0])
        }

        /// Joins over a network, and sends no keep-alives from then on.
        private func join(
            _ stage: HubStage, _ endpoint: HubEndpoint, number: UInt8
        ) async throws -> (RawClient, SessionID) {
            let client = try RawClient(at: endpoint, keys: stage.clientKeys(for: endpoint))
            let hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: number, count: Wire.tokenByteCount), resumed: nil)
            guard case .welcome(let welcome) = try await client.ask(.hello(hello)).body else {
                throw HarnessLimitation("no welcome")
            }
            return (client, welcome.session.id)
        }

        @Test("L1: heartbeats of the ZeroMQ library do not extend a lease")
        func heartbeats() async throws {
            let stage = try HubStage()
            // Longer than the time from one heartbeat to the next, which is 5 s.
            let (service, _, endpoint) = try await leasedService(stage, .seconds(6))
            let client = try await stage.client()
            let (silent, session) = try await join(stage, endpoint, number: 1)
            #expect(try await client.sessions().map(\.id).contains(session))
            try await eventually("the lease is over", timeout: TestTimeout.long) {
                try await client.sessions().map(\.id) == [client.session.id]
            }
            withExtendedLifetime(silent) {}
            await client.close()
            await service.stop()
        }

        @Test("L1: what was sent and is not read yet keeps a lease, and no other one")
        func unread() async throws {
            let stage = try HubStage()
            let (service, order, endpoint) = try await leasedService(stage, .seconds(1))
            let client = try await stage.client()
            let (sender, sending) = try await join(stage, endpoint, number: 1)
            let (other, silent) = try await join(stage, endpoint, number: 2)
            order.hold()
            let commit = Task { try await client.put("k", [1]) }
            try await eventually("a request waits for the order") { order.waitingCount > 0 }
            for _ in 0..<(Intake.limit + 16) { try await sender.say([UInt8](repeating: 0xFF, count: 1 << 10)) }
            try await eventually("more was sent than is taken in") { await service.intake.isFull }
            // Since then long enough for the sender's as well, which began anew with its last message that was taken in.
            try await eventually("the other's lease is over") { await service.leaseLeft(silent) < .seconds(-2) }
            #expect(await service.mustEnd(silent))
            #expect(await !service.mustEnd(sending))
            order.letGo()
            _ = try await withTimeout(TestTimeout.usual, "the commit ends") { try await commit.value }
            try await eventually("then the sender's is as well") { await service.mustEnd(sending) }
            withExtendedLifetime((sender, other)) {}
            await client.close()
            await service.stop()
        }

        @Test("L1: a lease runs out also while the hub waits for its order")
        func leaseWhileBusy() async throws {
            let stage = try HubStage()
            let (service, order, endpoint) = try await leasedService(stage, .seconds(1))
            let client = try await stage.client()
            _ = try await join(stage, endpoint, number: 1)
            order.hold()
            let commits = (0..<2 as Range<UInt8>).map { number in Task { try await client.put("k", [number]) } }
            try await eventually("a request waits, and the end of the session behind it") { order.waitingCount == 2 }
            order.letGo()
            for commit in commits {
                _ = try await withTimeout(TestTimeout.usual, "a commit ends") { try await commit.value }
            }
            #expect(try await client.sessions().map(\.id) == [client.session.id])
            await client.close()
            await service.stop()
        }

        @Test("a frame of more than 17 MiB ends its connection before it is read")
        func frameLimit() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let frame = { (number: UInt8, count: Int) in
                [Wire.version, 200, number] + [UInt8](repeating: 0, count: count - 3)
            }
            for (count, expected) in [(Wire.requestByteLimit, 77), (Wire.requestByteLimit + 1, 78)] as [(Int, UInt64)] {
                let raw = try RawClient(at: stage.endpoint)
                try await raw.say(frame(77, count))
                var first: Reply?
                try await eventually("something is answered") {
                    // Lost as often as the connection ends meanwhile.
                    try await raw.say(frame(78, 20))
                    first = try raw.hear()
                    return first != nil
                }
                #expect(first?.number == expected, "the first answer after a frame of \(count) bytes")
            }
            await hub.stop()
        }

        @Test("news of more than 64 KiB does not go out: news without effects, and a beacon, tell of it")
        func largeNews() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            let listener = try Socket(.subscriber, for: stage.endpoint.stream().description)
            defer { listener.close() }
            try listener.set(.subscribe, StreamMessage.updatesTopic)
            try listener.set(.subscribe, StreamMessage.beaconTopic)
            try listener.connect()
            var heard: [StreamMessage] = []
            let hears = { (wanted: Revision) in
                while let frame = listener.receive(upTo: 1)?.frames.first { heard.append(try StreamMessage(frame)) }
                return heard.contains { message in
                    switch message {
                    case .updates(let updates, _):
                        updates.after.rawValue + UInt64(updates.effects.count) >= wanted.rawValue
                    case .beacon(let revision, _): revision >= wanted
                    case .armed: false
                    }
                }
            }
            let isUpdates = { (message: StreamMessage) in
                if case .updates(let updates, _) = message { !updates.effects.isEmpty } else { false }
            }
            try await eventually("the stream is heard") {
                let revision = try await client.put("small", [1]).revision
                return try hears(revision) && heard.contains(where: isUpdates)
            }
            heard = []
            let large = try await client.put("large", [UInt8](repeating: 7, count: 65 << 10)).revision
            try await eventually("the large one is told of") { try hears(large) }
            #expect(!heard.contains(where: isUpdates), "what is heard of a large value")
            let isGap = { (message: StreamMessage) in
                if case .updates(let updates, _) = message {
                    updates.effects.isEmpty && updates.after >= large
                } else {
                    false
                }
            }
            #expect(heard.contains(where: isGap))
            #expect(try await client.get("large")?.value.count == 65 << 10)
            await client.close()
            await hub.stop()
        }

        @Test("a hub may have as many connections as the system lets it")
        func descriptorLimit() async throws {
            let stage = try HubStage()
            let program = try ChildProcess.built("sharedcore-test-peer")
            let hub = try ChildProcess(
                "/bin/sh",
                ["-c", "ulimit -S -n 256; exec \"$@\"", "sh", program, "hub", "\(stage.endpoint)", stage.files])
            try await eventually("the hub listens") { !hub.lines.isEmpty }
            let bytes = try OpenFile(path: "/proc/\(hub.pid)/limits", .read).read(count: 8192, at: 0)
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
                $0.hasPrefix("Max open files")
            }
            let limits = try #require(line).dropFirst("Max open files".count).split(separator: " ")
            #expect(limits[0] == limits[1] && limits[0] != "256", "the soft and the hard limit: \(limits)")
            hub.signal(.kill)
            _ = await hub.end()
        }

        @Test("L1: a client whose process cannot be looked at has a lease, and keeps its session by it alone")
        func leaseOfTheUnseen() async throws {
            var stage = try HubStage()
            stage.lease = .seconds(1)
            let hub = try await stage.hub()
            let client = try await stage.client()
            let own = ProcessIdentity.current
            for isSeen in [true, false] {
                let raw = try RawClient(at: stage.endpoint)
                let process = ProcessIdentity(
                    bootID: own.bootID, pid: own.pid, startTime: isSeen ? own.startTime : own.startTime + 1)
                let hello = Request.Hello(
                    group: "group", process: process, description: SessionDescription(),
                    token: [UInt8](repeating: isSeen ? 1 : 2, count: Wire.tokenByteCount), resumed: nil)
                guard case .welcome(let welcome) = try await raw.ask(.hello(hello)).body else {
                    Issue.record("no welcome")
                    return
                }
                #expect((welcome.lease == nil) == isSeen)
                if !isSeen {
                    try await eventually("the lease runs out") {
                        try await !client.sessions().contains { $0.id == welcome.session.id }
                    }
                }
            }
            // The client with a process that is seen, and lives.
            #expect(try await client.sessions().count == 2)
            await client.close()
            await hub.stop()
        }
    }
}

extension HubService {
    /// Returns true if a session has ended for the hub, whether or not the end is recorded.
    fileprivate func mustEnd(_ session: SessionID) -> Bool { clients[session]?.mustEnd ?? true }

    /// The rest of a session's lease; negative if it has ended and its end is not recorded yet.
    fileprivate func leaseLeft(_ session: SessionID) -> Duration { clients[session]?.leaseLeft ?? .zero }
}
