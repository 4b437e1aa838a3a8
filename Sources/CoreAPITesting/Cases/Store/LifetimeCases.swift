internal import CoreAPI

/// S8: lifetimes.
///
/// An expired entry may exist for another second of the group's clock, and until the backend notices that the case has
/// moved that clock. So a case waits until an entry is gone, and reads an entry that must remain only once.
enum LifetimeCases {
    static let all = [
        neverEarly, durationsAreRoundedUp, goneWithoutAReader, expiriesAreSeen, neverEarlyByTheMachinesClock,
        writingAgainRefreshes, lastWriteOfATransactionDecides, expiringOutlivesItsSession,
        sessionEntriesGoWithTheirSession, movesWithItsWriter,
    ]

    /// The longest time that an entry may exist after its duration.
    private static let grace = Duration.seconds(1)

    static let neverEarly = ConformanceCase(
        "S8a", "an expiring entry is there to its last nanosecond, and gone after it"
    ) { context in
        for nanoseconds in [1, 1_000, 1_000_000_000, 300_000_000_000] as [Int64] {
            let clock = ManualClock()
            try await context.withGroup(GroupSettings(clock: clock)) { group in
                let store = try await group.open()
                let lifetime = Lifetime.expiring(after: .nanoseconds(nanoseconds))
                let commit = try await store.put("k", [1], lifetime: lifetime)
                try expect(try await store.get("k")?.lifetime, is: lifetime, "the entry's lifetime")
                clock.advance(by: .nanoseconds(nanoseconds - 1))
                let moment = "1 ns before the end of \(nanoseconds) ns"
                try expect(try await store.get("k")?.revision, is: commit.revision, "the entry \(moment)")
                let newcomer = try await group.open()
                try await newcomer.catchUp()
                try expect(try await newcomer.list().entries.map(\.key), is: ["k"], "a newcomer's list \(moment)")
                clock.advance(by: .nanoseconds(1) + grace)
                try await onlyThese([], standIn: store)
                try expect(try await store.get("k"), is: nil, "the entry after \(nanoseconds) ns")
                try await store.put("k", [2], if: .absent("k"))
                try expect(try await store.get("k")?.lifetime, is: .persistent, "the lifetime of the next entry")
            }
        }
    }

    static let durationsAreRoundedUp = ConformanceCase(
        "S8b", "durations are kept in whole nanoseconds, rounded up; one of zero or less is refused"
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let store = try await group.open()
            let attosecond = Duration(secondsComponent: 0, attosecondsComponent: 1)
            for nanoseconds in [0, 7, 1_000_000_000] as [Int64] {
                let duration = Duration.nanoseconds(nanoseconds) + attosecond
                try await store.put("k", [1], lifetime: .expiring(after: duration))
                let kept = Lifetime.expiring(after: .nanoseconds(nanoseconds + 1))
                try expect(try await store.get("k")?.lifetime, is: kept, "the lifetime of \(duration)")
                clock.advance(by: .nanoseconds(nanoseconds))
                try expect(try await store.get("k") != nil, "the entry of \(duration) is there after \(nanoseconds) ns")
            }
            try await store.put("k", [2])
            for duration in [.zero, .seconds(-1), .nanoseconds(-1), Duration.zero - attosecond] {
                try await expect(.invalidArgument, from: "a put with the lifetime of \(duration)") {
                    try await store.put("k", [3], lifetime: .expiring(after: duration))
                }
            }
            try expect(try await store.get("k")?.value, is: [2], "the value after the refusals")
        }
    }

    static let goneWithoutAReader = ConformanceCase(
        "S8c", "an entry goes within a second of its end while a process has the group open, also without reads (W1)"
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let writer = try await group.open()
            let recorder = try await WatchRecorder(group.open())
            for round in 1...3 as ClosedRange<Int64> {
                try await writer.put("k", [1], lifetime: .expiring(after: .seconds(60 * round)))
                clock.advance(by: .seconds(60 * round) + grace)
                try await eventually("the watch sees expiry \(round)") {
                    recorder.mirror.changes.filter { $0.kind == .expired }.count == round
                }
            }
            try expect(recorder.mirror.changes.count, is: 6, "the number of changes of three rounds")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let expiriesAreSeen = ConformanceCase(
        "S8d", "by the machine's clock, a watch sees an expiry as one, without a read (W1)"
    ) { context in
        try await context.withGroup { group in
            let writer = try await group.open()
            let recorder = try await WatchRecorder(group.open())
            let keys: [Key] = ["a", "b", "c"]
            _ = try await writer.commit(
                Transaction(operations: keys.map { .put($0, [1], .expiring(after: .milliseconds(200))) }))
            try await eventually("the watch sees three expiries") {
                recorder.mirror.changes.filter { $0.kind == .expired }.count == 3
            }
            try expect(recorder.mirror.changes.count, is: 6, "the number of changes")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
            try expect(recorder.mirror.entries.isEmpty, "nothing is left for the watch")
        }
    }

    static let neverEarlyByTheMachinesClock = ConformanceCase(
        "S8e", "by the machine's clock, nothing is gone before its time"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let clock = ContinuousClock()
            for round in 0..<5 {
                let duration = Duration.milliseconds(20 + 13 * round)
                let began = clock.now
                try await store.put("k", [1], lifetime: .expiring(after: duration))
                try await eventually("the entry is gone") { try await store.get("k") == nil }
                let lived = began.duration(to: clock.now)
                try expect(lived >= duration, "an entry of \(duration) was there for \(lived)")
            }
        }
    }

    static let writingAgainRefreshes = ConformanceCase("S8f", "each put sets the lifetime of its entry anew") {
        context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let store = try await group.open()
            let short = Lifetime.expiring(after: .seconds(100))
            for key in ["refreshed", "kept", "shortened", "recreated"] as [Key] {
                try await store.put(key, [1], lifetime: short)
            }
            clock.advance(by: .seconds(60))
            try await store.put("refreshed", [2], lifetime: short)
            try await store.put("kept", [2], lifetime: .persistent)
            try await store.put("shortened", [2], lifetime: .expiring(after: .seconds(10)))
            try await store.delete("recreated")
            try await store.put("recreated", [2], lifetime: short)
            clock.advance(by: .seconds(10) + grace)
            try await onlyThese(["kept", "recreated", "refreshed"], standIn: store)
            // 1 ns before the end of its lifetime.
            clock.advance(by: .seconds(90) - grace - .nanoseconds(1))
            let listed = try await store.list().entries.map(\.key)
            try expect(listed, is: ["kept", "recreated", "refreshed"], "what was written again, to its last moment")
            clock.advance(by: .nanoseconds(1) + grace)
            try await onlyThese(["kept"], standIn: store)
            clock.advance(by: .seconds(1_000_000))
            try expect(try await store.list().entries.map(\.key), is: ["kept"], "what is persistent")
        }
    }

    static let lastWriteOfATransactionDecides = ConformanceCase(
        "S8g", "the last write of a transaction decides the lifetime"
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let store = try await group.open()
            let short = Lifetime.expiring(after: .seconds(1))
            let long = Lifetime.expiring(after: .seconds(10))
            _ = try await store.commit(
                Transaction(operations: [
                    .put("long", [1], short), .put("long", [2], long),
                    .put("persistent", [1], short), .put("persistent", [2], .persistent),
                    .put("short", [1], long), .put("short", [2], short),
                ]))
            clock.advance(by: .seconds(1) + grace)
            try await onlyThese(["long", "persistent"], standIn: store)
            clock.advance(by: .seconds(20))
            try await onlyThese(["persistent"], standIn: store)
        }
    }

    static let expiringOutlivesItsSession = ConformanceCase(
        "S8h", "an expiring entry outlives its session"
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let store = try await group.open()
            let guest = try await group.open()
            try await guest.put("k", [1], lifetime: .expiring(after: .seconds(10)))
            try await store.put("for ever", [1], lifetime: .expiring(after: .seconds(Int64.max)))
            await guest.close()
            clock.advance(by: .seconds(10) - .nanoseconds(1))
            try await store.catchUp()
            let listed = try await store.list().entries.map(\.key)
            try expect(listed, is: ["for ever", "k"], "what stands after the end of the session")
            clock.advance(by: .nanoseconds(1) + grace)
            try await onlyThese(["for ever"], standIn: store)
        }
    }

    static let sessionEntriesGoWithTheirSession = ConformanceCase(
        "S8i", "entries that live with a session end with it, in one revision (L1)"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let guest = try await group.open()
            for key in ["g/a", "g/b", "g/c", "g/taken", "g/persistent"] as [Key] {
                try await guest.put(key, [1], lifetime: .session)
            }
            try await guest.put("g/persistent", [2], lifetime: .persistent)
            try await store.put("g/taken", [2], lifetime: .session)
            try await store.put("own", [1], lifetime: .session)
            try await guest.delete("g/c")
            try await store.catchUp()
            let recorder = try await WatchRecorder(store)
            await guest.close()

            try await store.catchUp()
            let listed = try await store.list().entries.map(\.key)
            try expect(listed, is: ["g/persistent", "g/taken", "own"], "what stands after the session")
            try await recorder.reaches(try await store.put("last", [1]).revision)
            let ended = recorder.mirror.changes.filter { $0.key != "last" }
            try expect(ended.map(\.key).sorted(), is: ["g/a", "g/b"], "the keys that a watch saw go")
            try expect(ended.allSatisfy { $0.kind == .sessionEnded }, "the watch saw that their session has ended")
            try expect(recorder.mirror.changedRevisions.count, is: 2, "the revisions of the end and of the last put")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let movesWithItsWriter = ConformanceCase(
        "S8l", "another session's put keeps an entry's creation revision, and moves its lifetime to that session (S1)"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let first = try await group.open()
            let second = try await group.open()
            let created = try await first.put("k", [1], lifetime: .session).revision
            var last = created
            for (author, value) in [(second, 2), (first, 3), (second, 4)] as [(any SharedStore, UInt8)] {
                let move = Transaction(
                    guards: [.revision("k", last), .epoch("k", created)], operations: [.put("k", [value], .session)])
                last = try await author.commit(move).revision
                try await store.catchUp()
                let entry = try expectSome(try await store.get("k"), "the entry that session \(author.session.id) put")
                try expect(entry.creationRevision, is: created, "the creation revision after another session's put")
                try expect(entry.revision, is: last, "the revision after another session's put")
                try expect(entry.origin, is: author.session.id, "the session that the entry is of")
                try expect(entry.value, is: [value], "the value after another session's put")
            }
            await first.close()
            try await store.catchUp()
            try expect(try await store.get("k")?.creationRevision, is: created, "what outlives its first session")
            await second.close()
            try await store.catchUp()
            try expect(try await store.get("k") == nil, "the entry is gone with the session that wrote it last")
        }
    }

    /// Waits until exactly these keys exist.
    private static func onlyThese(_ keys: [Key], standIn store: any SharedStore) async throws {
        var found: [Key] = []
        try await eventually("only \(keys) stand, not \(found)") {
            found = try await store.list().entries.map(\.key)
            return found == keys
        }
    }
}
