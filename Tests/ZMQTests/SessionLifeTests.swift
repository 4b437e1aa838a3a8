internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// When the sessions of a hub's clients begin and end.
    @Suite("L1: sessions through a hub")
    struct SessionLifeTests {
        @Test("a lease expires even if other clients send messages all the time")
        func leaseUnderTraffic() async throws {
            // A lease that lasts on a busy machine until the kill.
            let stage = try HubStage()
            let hub = try await stage.hub(at: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint])
            let busy = try await stage.client()
            let isOver = Box(false)
            // Enough of them that a request waits at the hub almost always.
            let traffic = (0..<16).map { number in
                Task {
                    while !isOver.value { try await busy.put(Key("noise/\(number)"), [1]) }
                }
            }
            defer { isOver.update { $0 = true } }
            let peer = try await stage.peer(at: hub.endpoints[0])
            try await peer.tell("hold mine here")
            // A causal read may be behind the answer that the peer got.
            try await eventually("the entry is known") { try await busy.get("mine", consistency: .causal) != nil }
            await peer.killNow()
            try await eventually("the lease runs out") { try await busy.get("mine", consistency: .causal) == nil }
            isOver.update { $0 = true }
            for writer in traffic { try await writer.value }
            #expect(try await busy.sessions().map(\.id) == [busy.session.id])
            await busy.close()
            await hub.stop()
        }

        @Test("a client that is killed is noticed without its lease, also by those that use the files")
        func killedLocally() async throws {
            var stage = try HubStage()
            stage.lease = .seconds(600)
            let hub = try await stage.hub()
            let client = try await stage.client()
            let local = try await FileGroup.open(directory: stage.files)
            for _ in 0..<3 {
                let peer = try await stage.peer()
                try await peer.tell("hold mine here")
                let watches = [try await client.watch("mine", from: .now), try await local.watch("mine", from: .now)]
                await peer.killNow()
                for watch in watches {
                    let event = try await withTimeout(TestTimeout.usual, "the end is seen") { try await watch.next() }
                    guard case .changes(let set)? = event else {
                        Issue.record("no change: \(String(describing: event))")
                        return
                    }
                    #expect(set.changes.map(\.kind) == [.sessionEnded])
                }
            }
            await local.close()
            await client.close()
            await hub.stop()
        }

        @Test("a client that is killed while no hub runs is ended by the next one, or by those that use the files")
        func killedWithoutHub() async throws {
            let stage = try HubStage()
            for isNextHub in [true, false] {
                let first = try await stage.hub()
                let peer = try await stage.peer()
                try await peer.tell("hold mine here")
                await first.stop()
                await peer.killNow()
                if isNextHub {
                    let next = try await stage.hub()
                    let client = try await stage.client()
                    try await eventually("the session is ended") { try await client.get("mine") == nil }
                    await client.close()
                    await next.stop()
                } else {
                    let local = try await FileGroup.open(directory: stage.files)
                    #expect(try await local.get("mine") == nil)
                    await local.close()
                }
            }
        }

        @Test("a join that fails after its welcome leaves no session")
        func failedJoin() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            let armed = FailPoint.arm("hub.echo:fail")
            defer { armed.disarm() }
            try await expect(.unavailable, from: "joining without the stream's echo") {
                _ = try await stage.client { $0.openTimeout = .milliseconds(500) }
            }
            // The client's hello may have been answered only after the client had given up.
            try await eventually("no session of it is left") {
                try await client.sessions().map(\.id) == [client.session.id]
            }
            await client.close()
            await hub.stop()
        }

        @Test("hello that is said again with the same token, over another connection or to another hub, is one session")
        func helloTwice() async throws {
            let stage = try HubStage()
            var hub = try await stage.hub()
            let token = [UInt8](repeating: 9, count: Wire.tokenByteCount)
            var sessions: [SessionID] = []
            for round in 0..<3 {
                if round == 2 {
                    await hub.stop()
                    hub = try await stage.hub()
                }
                let raw = try RawClient(at: stage.endpoint)
                let reply = try await raw.ask(
                    .hello(
                        Request.Hello(
                            group: "group", process: .current,
                            description: SessionDescription(),
                            token: token, resumed: nil)))
                guard case .welcome(let welcome) = reply.body else {
                    Issue.record("no welcome: \(reply.body)")
                    return
                }
                sessions.append(welcome.session.id)
            }
            #expect(Set(sessions).count == 1, "the sessions \(sessions)")
            await hub.stop()
        }

        @Test("repeated hellos over a connection leave the requests behind the first one valid")
        func helloAgain() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let raw = try RawClient(at: stage.endpoint)
            let hello = Request.Body.hello(
                Request.Hello(
                    group: "group", process: .current, description: SessionDescription(),
                    token: [UInt8](repeating: 9, count: Wire.tokenByteCount), resumed: nil))
            _ = try await raw.ask(hello)
            let transaction = Transaction(operations: [.put("k", [1], .persistent)])
            let commit = try Request(number: 50, nonce: raw.nonce, body: .commit(transaction, known: .zero)).bytes()
            // A slow hub has received all of them before it answers one.
            try await raw.say(try Request(number: 49, body: hello).bytes())
            try await raw.say(commit)
            var replies: [Reply] = []
            try await eventually("both are answered: \(replies)") {
                if let reply = try raw.hear() { replies.append(reply) }
                return replies.count == 2
            }
            #expect(replies.map(\.number) == [49, 50])
            guard case .outcome(let outcome, _, _) = replies[1].body, case .committed(_) = outcome else {
                Issue.record("the commit is not answered: \(replies[1].body)")
                return
            }
            // Another connection has another nonce.
            let other = try RawClient(at: stage.endpoint)
            _ = try await other.ask(hello)
            #expect(!other.nonce.isSame(as: raw.nonce))
            await hub.stop()
        }

        @Test("E2: a role, a name or a token of another size is refused")
        func absurdHello() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            let raw = try RawClient(at: stage.endpoint)
            let long = String(repeating: "🇩🇪", count: 100_000)
            for tokenByteCount in [0, Wire.tokenByteCount - 1, Wire.tokenByteCount + 1] {
                let hello = Request.Hello(
                    group: "group", process: .current, description: SessionDescription(),
                    token: [UInt8](repeating: 0, count: tokenByteCount), resumed: nil)
                guard case .refused(let error) = try await raw.ask(.hello(hello)).body else {
                    Issue.record("a token of \(tokenByteCount) bytes is taken")
                    return
                }
                #expect(error.code == .corrupt)
            }
            // The description cuts itself, so the bytes are put together by hand.
            let hello = Request.Hello(
                group: "group", process: .current,
                description: SessionDescription(role: .main, name: "n"),
                token: [UInt8](repeating: 0, count: Wire.tokenByteCount), resumed: nil)
            let bytes = try Request(number: 77, body: .hello(hello)).bytes()
            let mark = Array("\u{4}main\u{1}n".utf8)
            let place = try #require(bytes.indices.first { bytes[$0...].starts(with: mark) })
            var count = long.utf8.count
            var prefix: [UInt8] = []
            while count >= 0x80 {
                prefix.append(UInt8(truncatingIfNeeded: count) | 0x80)
                count >>= 7
            }
            prefix.append(UInt8(count))
            let absurd = Array(bytes[..<(place + 5)]) + prefix + Array(long.utf8) + bytes[(place + mark.count)...]
            let reply = try await raw.ask(absurd)
            #expect(reply.number == 77)
            guard case .refused(let error) = reply.body else {
                Issue.record("a name of \(long.utf8.count) bytes is taken")
                return
            }
            #expect(error.code == .corrupt)
            #expect(try await client.sessions().count == 1)
            await client.close()
            await hub.stop()
        }

        @Test("S13: a read whose task was cancelled ends as `cancelled`, although the hub stands still")
        func cancelledRead() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess()
            let client = try await stage.client()
            hub.process.signal(.stop)
            try await eventually("the hub stands still") { hub.process.isStopped }
            let read = Task { try await client.get("k") }
            // The result is the same whether or not it is on its way; the pause makes it likely that it is.
            try await Task.sleep(for: .milliseconds(20))
            read.cancel()
            let error = await #expect(throws: SharedCoreError.self) {
                try await withTimeout(TestTimeout.usual, "the read ends") { try await read.value }
            }
            #expect(error?.code == .cancelled)
            hub.process.signal(.continue)
            await client.close()
            hub.process.signal(.kill)
        }

        @Test("S10: a session whose end finds no space is ended when there is some again")
        func endingTriedAgain() async throws {
            // A client with a lease: the end of any other is recorded by the processes on the files, too.
            let stage = try HubStage()
            let hub = try await stage.hub(at: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint])
            let client = try await stage.client()
            let peer = try await stage.peer(at: hub.endpoints[0])
            try await peer.tell("hold mine here")
            let armed = FailPoint.arm("hub.ending:fail,hub.ending:fail")
            defer { armed.disarm() }
            await peer.killNow()
            try await eventually("the session is ended at last") {
                try await client.get("mine", consistency: .causal) == nil
            }
            await client.close()
            await hub.stop()
        }

        @Test("W1: a state that takes longer than the first hello's patience arrives all the same")
        func slowState() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubAtFollowingPorts()
            let client = try await stage.client()
            for number in 0..<4 {
                try await client.put(Key("large/\(number)"), [UInt8](repeating: 7, count: 1 << 20))
            }
            // About 1 MiB a second, so that the state takes several times the pause after which hello is said again.
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub, bytesPerSecond: 1 << 20)
            let remote = try await stage.client(at: endpoint) { $0.openTimeout = TestTimeout.long }
            #expect(try await remote.list("large", consistency: .causal).entries.count == 4)
            withExtendedLifetime((requests, stream)) {}
            await remote.close()
            await client.close()
            await hub.stop()
        }
    }
}
