internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A hub within the process that ends and starts again: the library does not reconnect within a process.
    @Suite("A hub within a process starts again")
    struct NamedHubTests {
        private let stage: HubStage
        private let endpoint: HubEndpoint

        init() throws {
            stage = try HubStage()
            endpoint = .inproc(name: stage.directory.path)
        }

        @Test("S12, W1: clients go on with their sessions, their watches and what they asked meanwhile")
        func goesOn() async throws {
            var hub = try await stage.hub(at: [endpoint])
            let (writer, watcher) = (try await stage.client(at: endpoint), try await stage.client(at: endpoint))
            let watch = try await watcher.watch("count", from: .now)
            try await writer.put("mine", [1], lifetime: .session)
            for round in 0..<3 {
                try await writer.put("count", Counted.bytes(UInt64(round) * 2))
                await hub.stop()
                let asked = Task { try await writer.put("count", Counted.bytes(UInt64(round) * 2 + 1)) }
                hub = try await stage.hub(at: [endpoint])
                _ = try await withTimeout(TestTimeout.usual, "what was asked without a hub is done") {
                    try await asked.value
                }
            }
            for value in 0..<6 {
                let event = try await withTimeout(TestTimeout.usual, "the watch goes on") { try await watch.next() }
                guard case .changes(let set)? = event else {
                    Issue.record("no change: \(String(describing: event))")
                    return
                }
                #expect(set.changes.compactMap { $0.new.map { Counted.value($0.value) } } == [UInt64(value)])
            }
            #expect(try await watcher.get("mine")?.value == [1])
            #expect(try await watcher.sessions().map(\.id) == [writer.session.id, watcher.session.id].sorted())
            await writer.close()
            await watcher.close()
            await hub.stop()
        }

        @Test("without hearing of the next hub, what was asked stays without an answer: the test before can fail")
        func withoutHearing() async throws {
            let first = try await stage.hub(at: [endpoint])
            let client = try await stage.client(at: endpoint) { $0.requestTimeout = .milliseconds(500) }
            let armed = FailPoint.arm(Self.deafness)
            defer { armed.disarm() }
            await first.stop()
            let second = try await stage.hub(at: [endpoint])
            try await expect(.unavailable, from: "a read of a hub that is not heard of") {
                _ = try await client.get("count")
            }
            armed.disarm()
            await client.close()
            await second.stop()
        }

        private static let deafness = "link.follow:fail*"

        @Test("L1: a session that closes while there is no hub is ended by the next one", arguments: [true, false])
        func closedWithoutHub(isProtected: Bool) async throws {
            // Active each time: a link that an earlier test has released may still be closing.
            let armed = FailPoint.arm(isProtected ? "" : "link.stayBehind:fail*")
            defer { armed.disarm() }
            let first = try await stage.hub(at: [endpoint])
            let (leaving, staying) = (try await stage.client(at: endpoint), try await stage.client(at: endpoint))
            await first.stop()
            await leaving.close()
            let second = try await stage.hub(at: [endpoint])
            if isProtected {
                try await eventually("the session that was closed is over") {
                    try await staying.sessions().map(\.id) == [staying.session.id]
                }
            } else {
                #expect(await leaving.link.isOver)
                #expect(try await staying.sessions().count == 2)
            }
            await staying.close()
            await second.stop()
        }

        @Test("a hub that ends takes back its own name, and not its successor's")
        func successor() {
            let (hubs, name) = (NamedHubs(), "name")
            let former = hubs.begin(name)
            let latter = hubs.begin(name)
            hubs.end(former, of: name)
            #expect(hubs.run(of: name) == latter)
            hubs.end(latter, of: name)
            #expect(hubs.run(of: name) == nil)
        }

        @Test("without hearing of a hub that comes, a client that waits for one is told that there is none")
        func deaf() async throws {
            let armed = FailPoint.arm(Self.deafness)
            defer { armed.disarm() }
            let link = try HubLink(
                to: endpoint, group: "group", as: SessionDescription(),
                options: ZMQGroupOptions(openTimeout: .seconds(2)))
            let joining = Task { try await link.join().0 }
            // On a busy machine its time may pass before the test sees it wait.
            try await eventually("the client waits, or has ended") {
                let isOver = await link.isOver
                return isOver || NamedHubs.shared.isListened(to: stage.directory.path)
            }
            let hub = try await stage.hub(at: [endpoint])
            try await expect(.unavailable, from: "a join that does not hear of its hub") { _ = try await joining.value }
            await hub.stop()
        }

        @Test("a client waits for a hub that comes later, and is told when none does")
        func comesLater() async throws {
            try await expect(.unavailable, from: "joining without a hub") {
                _ = try await stage.client(at: endpoint) { $0.openTimeout = .milliseconds(100) }
            }
            async let opening = stage.client(at: endpoint)
            try await eventually("the client waits") { NamedHubs.shared.isListened(to: stage.directory.path) }
            let hub = try await stage.hub(at: [endpoint])
            let client = try await opening
            try await client.put("k", [1])
            await client.close()
            await hub.stop()
        }
    }
}
