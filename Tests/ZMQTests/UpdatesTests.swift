internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing
internal import ZMQBackend

extension ZMQTests {
    /// The way of updates to replicas, and the effect of lost ones.
    @Suite("News through a hub")
    struct UpdatesTests {
        @Test("N3, W1: the last news is lost: the beacon tells, without a request")
        func lastNewsLost() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let writer = try await stage.client()
            let listener = try await stage.client()
            let observation = try await listener.observe("news")
            let armed = FailPoint.arm("hub.publish:fail")
            defer { armed.disarm() }
            let revision = try await writer.post("news", state: 7)
            let delivery = try await withTimeout(TestTimeout.usual, "the post arrives") { try await observation.next() }
            #expect(delivery?.revision == revision)
            #expect(delivery?.state == 7)
            await close([writer, listener], hub)
        }

        @Test("without beacons the last news stays lost: the test before can fail")
        func withoutBeacons() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let writer = try await stage.client()
            let listener = try await stage.client()
            let observation = try await listener.observe("news")
            let armed = FailPoint.arm(
                "hub.publish:fail," + [String](repeating: "hub.beacon:fail", count: 200).joined(separator: ","))
            defer { armed.disarm() }
            let revision = try await writer.post("news", state: 7)
            let arrived = Box(false)
            let waiting = Task {
                let delivery = try await observation.next()
                arrived.update { $0 = true }
                return delivery
            }
            // Long enough for two beacons, which would have reported it.
            try await Task.sleep(for: .milliseconds(2_500))
            #expect(!arrived.value)
            // A linearizable read shows the value.
            try await listener.sync()
            let delivery = try await withTimeout(TestTimeout.usual, "the post is found") { try await waiting.value }
            #expect(delivery?.revision == revision)
            await close([writer, listener], hub)
        }

        @Test("C26: beacons do not wake the client of a Main at rest; its own read shows what was lost")
        func sleeperWithoutBeacons() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let writer = try await stage.client()
            let listener = try await stage.client()
            let sleeper = try await stage.client()
            let listening = try await listener.watch([.all], from: .now)
            let sleeping = try await sleeper.watchQuietly([.all], from: .now)
            let armed = FailPoint.arm([String](repeating: "hub.publish:fail", count: 10_000).joined(separator: ","))
            defer { armed.disarm() }
            var value: UInt8 = 0
            /// Writes a value, and waits until a beacon reaches the listener. Returns true if the sleeper learns of the
            /// value as well.
            func isTold() async throws -> Bool {
                value &+= 1
                let written = try await writer.put("k", [value]).revision
                var event: WatchEvent?
                while event?.revision != written {
                    event = try await withTimeout(TestTimeout.usual, "a beacon tells the listener") {
                        try await listening.next()
                    }
                }
                // Both get a beacon at the same time, and handle it on separate threads.
                for _ in 0..<20 {
                    if try await sleeper.get("k", consistency: .causal)?.value == [value] { return true }
                    try await Task.sleep(for: .milliseconds(10))
                }
                return false
            }
            try await eventually("no beacon tells it") { try await !isTold() }
            #expect(try await sleeper.get("k")?.value == [value])
            let event = try await withTimeout(TestTimeout.usual, "its read tells its watch") {
                try await sleeping.next()
            }
            #expect(event != nil)
            // With another watch it is told, until that watch ends.
            let other = try await sleeper.watch([.all], from: .now)
            try await eventually("beacons tell it again") { try await isTold() }
            other.cancel()
            try await eventually("no beacon tells it any more") { try await !isTold() }
            await close([writer, listener, sleeper], hub)
        }

        @Test("W1: news in the middle is lost: the gap is noticed and filled, in the order")
        func gapIsFilled() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let writer = try await stage.client()
            let listener = try await stage.client()
            let watch = try await listener.watch(.all, from: .now)
            let armed = FailPoint.arm((0..<10).map { "hub.publish:fail@\(1 + 7 * $0)" }.joined(separator: ","))
            defer { armed.disarm() }
            var written: [Revision] = []
            for number in 0..<200 as Range<UInt64> {
                written.append(try await writer.put("k", Counted.bytes(number)).revision)
            }
            var seen: [Revision] = []
            while seen.count < written.count {
                let event = try await withTimeout(TestTimeout.usual, "the watch goes on") { try await watch.next() }
                seen.append(try #require(event).revision)
            }
            #expect(seen == written)
            await close([writer, listener], hub)
        }

        /// The number of joins.
        private static let joinCount: UInt64 = TestScope.isAtLength ? 10_000 : 100

        @Test("N2: a client that joins among writers misses nothing that is posted after it is there")
        func joins() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let writer = try await stage.client()
            let isOver = Box(false)
            let noise = Task {
                while !isOver.value { try await writer.put("noise", [1]) }
            }
            defer { isOver.update { $0 = true } }
            for number in 0..<Self.joinCount {
                let joined = try await stage.client()
                let observation = try await joined.observe("hello")
                let revision = try await writer.post("hello", state: number)
                let delivery = try await withTimeout(TestTimeout.usual, "the post \(number) arrives") {
                    try await observation.next()
                }
                #expect(delivery?.revision == revision)
                #expect(delivery?.count == 1)
                await joined.close()
            }
            isOver.update { $0 = true }
            try await noise.value
            await close([writer], hub)
        }

        @Test("W3, N9: a listener that is stopped while 20,000 posts pass converges when it continues")
        func stoppedListener() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let writer = try await stage.client()
            let peer = try await stage.peer()
            try await peer.tell("observe burst")
            peer.signal(.stop)
            try await peer.stopped()
            var last = Revision.zero
            for number in 0..<200 as Range<UInt64> {
                let operations = (0..<100 as Range<UInt64>).map {
                    Transaction.Operation.post("burst", state: number * 100 + $0)
                }
                last = try await writer.commit(Transaction(operations: operations)).revision
            }
            peer.signal(.continue)
            try await eventually("the listener converges") { try await peer.tell("seen") == "20000 19999" }
            #expect(try await writer.state(of: "burst").revision == last)
            await close([writer], hub)
        }

        @Test(
            "S13, S15: a client stopped inside a commit holds up no other, and its commit is whole when it continues"
        )
        func stoppedWriter() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let other = try await stage.client()
            for place in ["link.beforeSend", "link.afterAnswer"] {
                let peer = try await stage.peer()
                try await peer.tell("arm \(place):stop")
                try peer.send("put \(place) here")
                try await peer.stopped()
                #expect(try await other.put("k", [1]).changed)
                let isThere = try await other.get(Key(place)) != nil
                #expect(isThere == (place == "link.afterAnswer"))
                #expect(try await other.sessions().count == 2, "a stopped client's session lives")
                peer.signal(.continue)
                _ = try await peer.done()
                #expect(try await other.get(Key(place)) != nil)
                try await peer.tell("close")
            }
            await close([other], hub)
        }

        @Test("W2: effects that the hub does not keep any more: the whole state is sent, and the watch says `lagged`")
        func wholeState() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub(effectByteCount: 2_000)
            let writer = try await stage.client()
            let peer = try await stage.peer()
            try await peer.tell("watch k")
            peer.signal(.stop)
            try await peer.stopped()
            // More than all queues on the way hold.
            var last = Revision.zero
            let value = [UInt8](repeating: 1, count: 16 << 10)
            for number in 0..<4_000 { last = try await writer.put(Key("k/\(number % 5)"), value).revision }
            peer.signal(.continue)
            let answer = try await peer.tell("watched \(last)")
            let words = answer.split(separator: " ").map(String.init)
            #expect(words.count == 4 && words[3] == "\(last)", "the last revision of: \(answer)")
            #expect(words[2] == "0", "the number of breaches of: \(answer)")
            #expect(Int(words[1]) ?? 0 > 0, "the number of `lagged` events of: \(answer)")
            await close([writer], hub)
        }

        @Test("S4, W1, N2: participants of the files and of the hub share one group")
        func filesAndHub() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let remote = try await stage.client()
            let local = try await FileGroup.open(directory: stage.files)
            let (heard, seen) = (try await remote.observe("n"), try await local.observe("n"))
            let revision = try await local.commit(
                Transaction(operations: [.put("k", [1], .session), .post("n", state: 1)])
            ).revision
            #expect(
                try await withTimeout(TestTimeout.usual, "the hub's client hears") { try await heard.next() }?.revision
                    == revision)
            #expect(try await remote.get("k")?.origin == local.session.id)
            let answer = try await remote.post("n", state: 2)
            try await eventually("the participant of the files hears") { try await seen.next()?.revision == answer }
            let sessions = try await remote.sessions().map(\.id)
            #expect(sessions == [remote.session.id, local.session.id].sorted())
            let watch = try await remote.watch("k", from: .now)
            await local.close()
            let event = try await withTimeout(TestTimeout.usual, "the end is seen") { try await watch.next() }
            guard case .changes(let set)? = event else {
                Issue.record("no change: \(String(describing: event))")
                return
            }
            #expect(set.changes.map(\.kind) == [.sessionEnded])
            await close([remote], hub)
        }

        private func close(_ clients: [ZMQGroup], _ hub: Hub) async {
            for client in clients { await client.close() }
            await hub.stop()
        }
    }
}
