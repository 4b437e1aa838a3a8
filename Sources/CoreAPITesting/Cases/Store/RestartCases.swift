internal import CoreAPI

/// S3, S8, S10, L1: the state that is kept when all participants leave, and when the machine restarts.
enum RestartCases {
    static let revisions = [revisionsRiseOverRestarts]
    static let lifetimes = [machineStartsAgain, dueWhileNobodyLooked]
    static let all = [everybodyLeaves, longOrder]

    static let revisionsRiseOverRestarts = ConformanceCase(
        "S3c", "revisions go on rising after all sessions have ended", durability: .process
    ) { context in
        try await context.withGroup { group in
            var last = Revision.zero
            for round in 0..<5 as Range<UInt8> {
                let store = try await group.open()
                try expect(try await store.list().revision >= last, "the store stands at the last revision or later")
                for revision in [try await store.put("k", [round]).revision, try await store.delete("k").revision] {
                    try expect(revision > last, "revision \(revision) of round \(round) comes after revision \(last)")
                    last = revision
                }
                await group.closeAll()
            }
        }
    }

    static let machineStartsAgain = ConformanceCase(
        "S8j",
        "after a reboot no earlier session lives, and an entry that expires has one full duration at most (L1)",
        durability: .process
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let store = try await group.open()
            try await store.put("kept", [1])
            try await store.put("expiring", [1], lifetime: .expiring(after: .seconds(60)))
            let last = try await store.put("mine", [1], lifetime: .session).revision
            let old = store.session
            clock.advance(by: .seconds(50))
            await group.closeAll()

            clock.reboot()
            let reborn = try await group.open()
            try expect(reborn.session.id != old.id, "the new session has an identity of its own")
            try expect(try await reborn.sessions().map(\.id), is: [reborn.session.id], "the sessions after the start")
            let listed = try await reborn.list().entries.map(\.key)
            try expect(listed, is: ["expiring", "kept"], "what stands after the start")
            clock.advance(by: .seconds(61))
            try await eventually("what expires is gone one full duration after the start") {
                try await reborn.list().entries.map(\.key) == ["kept"]
            }
            try expect(try await reborn.put("kept", [2]).revision > last, "revisions go on rising")
        }
    }

    static let dueWhileNobodyLooked = ConformanceCase(
        "S8k", "an entry due while no process had the group open is gone for the next opener", durability: .process
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            try await group.open().put("k", [1], lifetime: .expiring(after: .seconds(60)))
            await group.closeAll()
            clock.advance(by: .seconds(59))
            try expect(try await group.open().get("k") != nil, "the entry is there before its end")
            await group.closeAll()
            clock.advance(by: .seconds(1))
            let store = try await group.open()
            try expect(try await store.get("k", consistency: .causal), is: nil, "the entry after its end")
            try expect(try await store.list().entries, is: [], "the list after its end")
            try await store.put("k", [2], if: .absent("k"))
        }
    }

    static let everybodyLeaves = ConformanceCase(
        "S10h", "after all sessions have ended, the store is as it was, without them and their entries (L1)",
        durability: .process
    ) { context in
        try await context.withGroup { group in
            var seen: Set<SessionID> = []
            var kept: [Entry] = []
            var news = NotificationState.never
            for round in 0..<5 as Range<UInt64> {
                let store = try await group.open()
                try expect(seen.insert(store.session.id).inserted, "no session has the identity of an older one")
                let sessions = try await store.sessions().map(\.id)
                try expect(sessions, is: [store.session.id], "the sessions of round \(round)")
                try expect(try await store.list().entries, is: kept, "what stands in round \(round)")
                try expect(try await store.state(of: "news"), is: news, "the state of the name in round \(round)")
                let key = try Key("kept/\(round)")
                try await store.put(key, [UInt8(round)])
                try await store.put("mine", [1], lifetime: .session)
                kept.append(try expectSome(try await store.get(key), "the new entry"))
                try await store.post("news", state: round)
                news = try await store.state(of: "news")
                try expect(news.count, is: round + 1, "the number of posts")
                await group.closeAll()
            }
        }
    }

    static let longOrder = ConformanceCase(
        "S10j", "a participant that joins after megabytes of commits has all entries, and the last changes (W2, N5)"
    ) { context in
        try await context.withGroup { group in
            let writer = try await group.open()
            try await writer.put("kept", [7])
            try await writer.put("mine", [1], lifetime: .session)
            try await writer.post("news", state: 5)
            for round in 0..<2 {
                for number in 0..<64 as Range<UInt8> {
                    let value = [UInt8](repeating: number, count: 64 << 10)
                    try await writer.put(Key("large/\(number % 4)"), value)
                }
                let last = try await writer.put("last", [UInt8(round)]).revision
                let newcomer = try await group.open("newcomer \(round)")
                try await newcomer.catchUp()
                let (found, expected) = (try await newcomer.list().entries, try await writer.list().entries)
                try expect(found.count, is: 7, "how many entries the newcomer of round \(round) finds")
                try expect(found == expected, "the newcomer of round \(round) finds the entries that the writer has")
                let news = try await newcomer.state(of: "news")
                try expect(news, is: try await writer.state(of: "news"), "the state of a name that was posted long ago")
                let watch = try await newcomer.watch(.all, from: .after(Revision(rawValue: last.rawValue - 1)))
                let event = try await withTimeout(TestTimeout.usual, "the watch of a newcomer goes on") {
                    try await watch.next()
                }
                switch event {
                case .changes(let changes)?:
                    try expect(changes.revision, is: last, "the first change after the last revision but one")
                case .lagged(let snapshot)?:
                    try expect(snapshot.entries == expected, "the snapshot has what stands, where changes are gone")
                default: try expect(false, "the watch begins with a change, or has lagged")
                }
                try expect(try await newcomer.sessions().count, is: 2 + round, "the number of participants")
            }
        }
    }
}
