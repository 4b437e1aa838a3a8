internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S13: closing and cancelling", .timeLimit(.minutes(10)))
struct ClosingTests {
    @Test("S13: after `close` every call is `closed`; closing again is harmless", arguments: Backend.all)
    func useAfterCloseIsTyped(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let witness = try await group.open()
            let before = try await store.put("k", [1]).revision
            await store.close()
            await store.close()
            _ = try await together(4) { _ in await store.close() }

            let calls: [@Sendable () async throws -> Void] = [
                { _ = try await store.get("k") }, { _ = try await store.get("k", consistency: .causal) },
                { _ = try await store.list() }, { _ = try await store.put("k", [2]) },
                { _ = try await store.commit(Transaction()) }, { _ = try await store.delete("k") },
                { _ = try await store.watch() }, { _ = try await store.watch(.all, from: .after(before)) },
                { try await store.sync() }, { _ = try await store.sessions() }, { _ = try await store.post("news") },
                { _ = try await store.observe("news") }, { _ = try await store.state(of: "news") },
            ]
            for (number, call) in calls.enumerated() {
                #expect(try await code(of: call) == .closed, "call \(number)")
            }
            #expect(try await witness.get("k")?.value == [1])
            #expect(try await witness.sessions().map(\.id) == [witness.session.id])
        }
    }

    @Test("S13: `close` ends whoever waits at a watch or an observation", arguments: Backend.all)
    func closeUnblocks(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let watches = [try await store.watch(.all, from: .now), try await store.watch("a", from: .now)]
            let observations = [try await store.observe("a"), try await store.observe("b")]
            let waiting = Box(0)
            let waiters =
                watches.map { watch in
                    Task { () async throws -> Bool in
                        waiting.update { $0 += 1 }
                        return try await watch.next() == nil
                    }
                }
                + observations.map { observation in
                    Task { () async throws -> Bool in
                        waiting.update { $0 += 1 }
                        return try await observation.next() == nil
                    }
                }
            try await eventually("all wait") { waiting.value == 4 }
            await store.close()
            for waiter in waiters {
                #expect(try await within(Patience.usual, "a waiter ends") { try await waiter.value })
            }
            // The ends last, also for one who comes later.
            #expect(try await watches[0].next() == nil)
            #expect(try await observations[0].next() == nil)
        }
    }

    @Test("S13: calls in flight when the handle closes take effect whole or are `closed`", arguments: Backend.all)
    func closeMeetsCalls(backend: Backend) async throws {
        try await backend.withGroup { group in
            let witness = try await group.open()
            var total = 0
            for round in 0..<20 {
                let store = try await group.open()
                let key = try Key("round/\(round)")
                let outcomes = try await together(5) { number -> Int in
                    if number == 4 {
                        await store.close()
                        return 0
                    }
                    var done = 0
                    for _ in 0..<50 {
                        switch try await attempt({
                            try await store.commit(
                                Transaction(operations: [.post("count", state: nil), .put(key, [1], .persistent)]))
                        }) {
                        case .success: done += 1
                        case .failure(let error):
                            #expect(error.code == .closed || error.code == .sessionEnded)
                            return done
                        }
                    }
                    return done
                }
                total += outcomes.reduce(0, +)
                #expect(try await witness.state(of: "count").count == UInt64(total))
                #expect((try await witness.get(key) != nil) == (outcomes.reduce(0, +) > 0))
            }
        }
    }

    @Test("S13: a task that was cancelled before its commit does nothing", arguments: Backend.all)
    func cancelledCommitsDoNothing(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let before = try await store.put("k", [1]).revision
            let gate = Latch()
            let task = Task {
                await gate.pass()
                return try await code { try await store.put("k", [2]) }
            }
            task.cancel()
            gate.open()
            #expect(try await task.value == .cancelled)
            #expect(try await store.get("k")?.revision == before)
        }
    }

    @Test(
        "S13: cancelled at any moment, a commit is done when it says so, and not done when it was `cancelled`",
        arguments: Backend.all, Seed.several(2))
    func cancellationIsAllOrNothing(backend: Backend, seed: Seed) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 4)
            let outcomes = try await together(4) { number -> (done: Int, cancelled: Int) in
                var random = SplitMix64(seed: seed.rawValue &+ UInt64(number))
                var (done, cancelled) = (0, 0)
                for _ in 0..<200 {
                    let task = Task {
                        try await code { try await handles[number].post("count") }
                    }
                    for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
                    task.cancel()
                    let outcome = try await within(Patience.usual, "a cancelled commit ends") { try await task.value }
                    if outcome == nil { done += 1 } else { cancelled += 1 }
                    #expect(outcome == nil || outcome == .cancelled)
                }
                return (done, cancelled)
            }
            let done = outcomes.reduce(0) { $0 + $1.done }
            #expect(try await handles[0].state(of: "count").count == UInt64(done))
        }
    }

    @Test("S13, W4: a cancelled wait ends, though nothing comes", arguments: Backend.all)
    func cancelledWaitsEnd(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let watch = try await store.watch(.all, from: .now)
            let observation = try await store.observe("news")
            for _ in 0..<50 {
                let begun = Box(0)
                let waits = Task {
                    begun.update { $0 += 1 }
                    return try await watch.next()
                }
                let wakes = Task {
                    begun.update { $0 += 1 }
                    return try await observation.next()
                }
                try await eventually("both wait") { begun.value == 2 }
                waits.cancel()
                wakes.cancel()
                #expect(try await within(Patience.usual, "the watch's wait ends") { try await waits.value } == nil)
                #expect(
                    try await within(Patience.usual, "the observation's wait ends") { try await wakes.value } == nil)
            }
            // The watch and the observation are unharmed.
            let commit = try await store.commit(
                Transaction(operations: [.put("k", [1], .persistent), .post("news", state: 3)]))
            #expect(try await watch.next()?.revision == commit.revision)
            #expect(try await observation.next()?.revision == commit.revision)
        }
    }

    @Test("S13, W4: a cancelled wait ends promptly and swallows nothing", arguments: Backend.all)
    func cancelledWaitsSwallowNothing(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let watch = try await store.watch(.all, from: .now)
            let observation = try await store.observe("news")
            var seen: [Revision] = []
            var posts: UInt64 = 0
            for round in 0..<100 {
                let waits = Task { try await watch.next() }
                let wakes = Task { try await observation.next() }
                async let written = store.commit(
                    Transaction(operations: [.put("k", [UInt8(round)], .persistent), .post("news", state: nil)]))
                if round.isMultiple(of: 2) { await Task.yield() }
                waits.cancel()
                wakes.cancel()
                if let event = try await within(Patience.usual, "the wait ends", { try await waits.value }) {
                    seen.append(event.revision)
                }
                if let delivery = try await within(Patience.usual, "the wait ends", { try await wakes.value }) {
                    posts += delivery.count
                }
                _ = try await written
            }
            while seen.count < 100,
                let event = try await within(Patience.usual, "an event that nobody took", { try await watch.next() })
            { seen.append(event.revision) }
            while posts < 100,
                let delivery = try await within(
                    Patience.usual, "a post that nobody took", { try await observation.next() })
            { posts += delivery.count }
            #expect(Set(seen).count == 100)
            #expect(seen == seen.sorted())
            #expect(posts == 100)
        }
    }
}
