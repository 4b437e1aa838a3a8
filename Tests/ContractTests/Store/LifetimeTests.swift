internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S8: lifetimes", .timeLimit(.minutes(10)))
struct LifetimeTests {
    @Test(
        "S8: an expiring entry is there to its last nanosecond, and gone after it", arguments: Backend.all,
        [1, 1_000, 1_000_000_000, 300_000_000_000])
    func neverEarly(backend: Backend, nanoseconds: Int64) async throws {
        let clock = ManualClock()
        try await backend.withGroup(Backend.Settings(clock: clock)) { group in
            let store = try await group.open()
            let lifetime = Lifetime.expiring(after: .nanoseconds(nanoseconds))
            let commit = try await store.put("k", [1], lifetime: lifetime)
            #expect(try await store.get("k")?.lifetime == lifetime)
            clock.advance(by: .nanoseconds(nanoseconds - 1))
            #expect(try await store.get("k")?.revision == commit.revision)
            #expect(try await group.open().list().entries.count == 1)
            clock.advance(by: .nanoseconds(1))
            #expect(try await store.get("k") == nil)
            #expect(try await store.list().entries == [])
            try await store.put("k", [2], if: .absent("k"))
        }
    }

    @Test("S8, W1: a watch sees an expiry as one, without anybody reading", arguments: Backend.all)
    func watchesSeeExpiries(backend: Backend) async throws {
        // By the machine's clock, so that the group's own timer is at work.
        try await backend.withGroup { group in
            let store = try await group.open()
            let writer = try await group.open()
            let recorder = try await WatchRecorder(store)
            let keys: [Key] = ["a", "b", "c"]
            _ = try await writer.commit(
                Transaction(operations: keys.map { .put($0, [1], .expiring(after: .milliseconds(200))) }))
            try await eventually("the watch sees three expiries") {
                recorder.mirror.changes.filter { $0.kind == .expired }.count == 3
            }
            #expect(recorder.mirror.breaches == [])
            #expect(recorder.mirror.changedRevisions.count == 2, "entries of one instant go in one revision")
            #expect(recorder.mirror.entries.isEmpty)
        }
    }

    @Test("S8: by the machine's clock, nothing is gone before its time", arguments: Backend.all)
    func neverEarlyByTheMachinesClock(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let clock = ContinuousClock()
            for round in 0..<5 {
                let duration = Duration.milliseconds(20 + 13 * round)
                let began = clock.now
                try await store.put("k", [1], lifetime: .expiring(after: duration))
                try await eventually("the entry is gone") { try await store.get("k") == nil }
                #expect(began.duration(to: clock.now) >= duration)
            }
        }
    }

    @Test("S8: writing again sets the lifetime anew", arguments: Backend.all)
    func writingAgainRefreshes(backend: Backend) async throws {
        let clock = ManualClock()
        try await backend.withGroup(Backend.Settings(clock: clock)) { group in
            let store = try await group.open()
            let short = Lifetime.expiring(after: .seconds(10))
            for key in ["refreshed", "kept", "shortened", "recreated"] as [Key] {
                try await store.put(key, [1], lifetime: short)
            }
            clock.advance(by: .seconds(6))
            try await store.put("refreshed", [2], lifetime: short)
            try await store.put("kept", [2], lifetime: .persistent)
            try await store.put("shortened", [2], lifetime: .expiring(after: .seconds(1)))
            try await store.delete("recreated")
            try await store.put("recreated", [2], lifetime: short)
            clock.advance(by: .seconds(1))
            #expect(try await store.get("shortened") == nil)
            clock.advance(by: .seconds(8))
            #expect(try await store.list().entries.map(\.key) == ["kept", "recreated", "refreshed"])
            clock.advance(by: .seconds(1))
            #expect(try await store.list().entries.map(\.key) == ["kept"])
            clock.advance(by: .seconds(1_000_000))
            #expect(try await store.list().entries.map(\.key) == ["kept"])
        }
    }

    @Test("S8: the last write of a transaction decides the lifetime", arguments: Backend.all)
    func lastWriteOfATransactionDecides(backend: Backend) async throws {
        let clock = ManualClock()
        try await backend.withGroup(Backend.Settings(clock: clock)) { group in
            let store = try await group.open()
            let short = Lifetime.expiring(after: .seconds(1))
            let long = Lifetime.expiring(after: .seconds(10))
            _ = try await store.commit(
                Transaction(operations: [
                    .put("long", [1], short), .put("long", [2], long),
                    .put("persistent", [1], short), .put("persistent", [2], .persistent),
                    .put("short", [1], long), .put("short", [2], short),
                ]))
            clock.advance(by: .seconds(2))
            #expect(try await store.list().entries.map(\.key) == ["long", "persistent"])
            clock.advance(by: .seconds(20))
            #expect(try await store.list().entries.map(\.key) == ["persistent"])
        }
    }

    @Test("S8: an expiring entry outlives its session, a duration of nothing is refused", arguments: Backend.all)
    func expiringOutlivesItsSession(backend: Backend) async throws {
        let clock = ManualClock()
        try await backend.withGroup(Backend.Settings(clock: clock)) { group in
            let store = try await group.open()
            let guest = try await group.open()
            try await guest.put("k", [1], lifetime: .expiring(after: .seconds(10)))
            for duration in [Duration.zero, .seconds(-1)] {
                let refused = try await code { try await store.put("z", [1], lifetime: .expiring(after: duration)) }
                #expect(refused == .invalidArgument)
            }
            try await store.put("for ever", [1], lifetime: .expiring(after: .seconds(Int64.max)))
            await guest.close()
            clock.advance(by: .seconds(9))
            #expect(try await store.list().entries.map(\.key) == ["for ever", "k"])
            clock.advance(by: .seconds(1))
            #expect(try await store.list().entries.map(\.key) == ["for ever"])
        }
    }

    @Test("S8, L1: what lives with a session goes with it, in one revision", arguments: Backend.all)
    func sessionEntriesGoWithTheirSession(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let guest = try await group.open()
            for key in ["g/a", "g/b", "g/c", "g/taken", "g/persistent"] as [Key] {
                try await guest.put(key, [1], lifetime: .session)
            }
            try await guest.put("g/persistent", [2], lifetime: .persistent)
            try await store.put("g/taken", [2], lifetime: .session)
            try await store.put("own", [1], lifetime: .session)
            try await guest.delete("g/c")
            let recorder = try await WatchRecorder(store)
            await guest.close()

            let listed = try await store.list()
            #expect(listed.entries.map(\.key) == ["g/persistent", "g/taken", "own"])
            try await recorder.reaches(listed.revision)
            #expect(recorder.mirror.changes.map(\.key) == ["g/a", "g/b"])
            #expect(recorder.mirror.changes.allSatisfy { $0.kind == .sessionEnded })
            #expect(recorder.mirror.changedRevisions.count == 1)
            #expect(recorder.mirror.breaches == [])
        }
    }
}
