internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// What a hub takes in, and from whom first.
    @Suite("A hub's intake")
    struct IntakeTests {
        @Test("what waits to be answered takes 64 MiB at most, and goes on when there is room")
        func bytes() async throws {
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try HubService(
                order: order,
                options: HubOptions(group: "group", storage: .memory(MemorySpace()), endpoints: [stage.endpoint]))
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
            let limit = HubService.intakeByteLimit
            try await eventually("the intake is full") { await service.intakeByteCount >= limit }
            // The thread looks at its sockets after each of these jobs.
            for _ in 0..<500 { #expect(await service.intakeByteCount <= limit + byteCount) }
            order.letGo()
            #expect(try await within(Patience.usual, "the commit ends") { try await commit.value }.changed)
            var answered = 0
            try await eventually("all of the flood is answered") {
                for raw in flood { while try raw.hear() != nil { answered += 1 } }
                return answered == 120
            }
            #expect(await service.intakeByteCount == 0)
            await client.close()
            await service.stop()
        }

        @Test("a flood at one endpoint does not keep those out who come to another")
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
            try await eventually("the intake is full") { await service.isIntakeFull }
            let asked = Task { try await client.put("k", [2]) }
            // While the flood goes on, that one is sent as well.
            for _ in 0..<600 { for raw in flood { try await raw.say([0xFF]) } }
            order.letThrough()
            #expect(try await within(Patience.usual, "the commit ends") { try await held.value }.changed)
            // Nobody else is answered while it waits.
            try await eventually("the other request waits for the order") { order.waitingCount == 1 }
            var answered = 0
            for raw in flood { while try raw.hear() != nil { answered += 1 } }
            #expect(answered < 12_000, "how many of 18,000 were answered first")
            order.letGo()
            #expect(try await within(Patience.usual, "the other commit ends") { try await asked.value }.changed)
            await service.stop()
            await client.close()
        }

        @Test("L1: a lease runs out also while the hub waits for its order")
        func leaseWhileBusy() async throws {
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try HubService(
                order: order,
                options: HubOptions(
                    group: "group", storage: .memory(MemorySpace()),
                    endpoints: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint],
                    keys: CurveHubKeys(own: stage.keys.hub, clients: [stage.keys.client.publicKey]),
                    lease: .seconds(1)))
            let endpoints = try await service.start()
            let client = try await stage.client()
            let leased = try RawClient(at: endpoints[0], keys: stage.clientKeys(for: endpoints[0]))
            let hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: 1, count: Wire.tokenByteCount), resumed: nil)
            guard case .welcome(let welcome) = try await leased.ask(.hello(hello)).body else {
                Issue.record("no welcome")
                return
            }
            #expect(welcome.lease == .seconds(1))
            order.hold()
            let commits = (0..<2 as Range<UInt8>).map { number in Task { try await client.put("k", [number]) } }
            try await eventually("a request waits, and the end of the session behind it") { order.waitingCount == 2 }
            order.letGo()
            for commit in commits { _ = try await within(Patience.usual, "a commit ends") { try await commit.value } }
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

        @Test("news of more than 64 KiB does not go out: the beacon tells of it at once")
        func largeNews() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            let listener = try Socket(.subscriber, for: stage.endpoint.stream().description)
            defer { listener.close() }
            try listener.set(.subscribe, [StreamMessage.newsTopic])
            try listener.connect()
            var heard: [StreamMessage] = []
            let hears = { (wanted: Revision) in
                while let frame = listener.receive(upTo: 1)?.frames.first { heard.append(try StreamMessage(frame)) }
                return heard.contains { message in
                    switch message {
                    case .news(let news, _): news.after.rawValue + UInt64(news.effects.count) >= wanted.rawValue
                    case .beacon(let revision, _): revision >= wanted
                    case .armed: false
                    }
                }
            }
            let isNews = { (message: StreamMessage) in if case .news = message { true } else { false } }
            try await eventually("the stream is heard") {
                let revision = try await client.put("small", [1]).revision
                return try hears(revision) && heard.contains(where: isNews)
            }
            heard = []
            let large = try await client.put("large", [UInt8](repeating: 7, count: 65 << 10)).revision
            try await eventually("the large one is told of") { try hears(large) }
            #expect(!heard.contains(where: isNews), "what is heard of a large value")
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
            hub.signal(SIGKILL)
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
            // The one whose process is seen, and lives.
            #expect(try await client.sessions().count == 2)
            await client.close()
            await hub.stop()
        }
    }
}
