internal import Coordination
internal import CoreAPI

/// S10: a request that is too large is refused, and no part of it is done.
enum LimitCases {
    static let all = [
        valuesAreBounded, transactionsAreBounded, stepsAreBounded, namesAreBounded, storesAreBounded, endsMakeRoom,
    ]

    static let entries = [entriesAreBounded, participantsHaveRoom, coresRunInFullStores]

    static let valuesAreBounded = ConformanceCase(
        "S10a", "a value of the limit is accepted, one byte more is refused and nothing is written (S2)"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let limits = store.capabilities.limits
            // Less if a transaction or the store is full before a value reaches its limit.
            let room = min(limits.transactionByteCount, limits.storeByteCount) - 1
            let limit = try trying(min(limits.valueByteCount, room))
            let accepted = try await store.put("k", [UInt8](repeating: 1, count: limit))
            let recorder = try await WatchRecorder(store)
            let tooLarge = [UInt8](repeating: 2, count: limit + 1)
            try await expect(.limitExceeded, from: "a put of one byte more than the limit") {
                try await store.put("k", tooLarge)
            }
            try await expect(.limitExceeded, from: "a put of one byte more under a new key") {
                try await store.put("new", tooLarge)
            }
            let entry = try await store.get("k")
            try expect(entry?.revision, is: accepted.revision, "the revision of the entry")
            try expect(entry?.value == [UInt8](repeating: 1, count: limit), "the value is whole")
            try expect(try await store.list().entries.map(\.key), is: ["k"], "the keys")
            let deleted = try await store.delete("k")
            try await recorder.reaches(deleted.revision)
            try expect(recorder.mirror.changedRevisions, is: [deleted.revision], "the revisions that a watch saw")
        }
    }

    static let transactionsAreBounded = ConformanceCase(
        "S10b", "a transaction of the limit is accepted, one byte more is refused as a whole"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let limits = store.capabilities.limits
            let limit = try trying(min(limits.transactionByteCount, limits.storeByteCount))
            // Values of nearly equal size, each below its own limit, with keys of six bytes: together exactly the
            // limit.
            let count = limit / min(limits.valueByteCount, 1 << 20) + 1
            let keys = try (0..<count).map { try Key("k" + String(100_000 + $0).dropFirst()) }
            func transaction(of byte: UInt8, and extra: Int = 0) -> Transaction {
                let operations = keys.enumerated().map { number, key in
                    let size =
                        limit / count - 6 + (number < limit % count ? 1 : 0) + (number == count - 1 ? extra : 0)
                    return Transaction.Operation.put(key, [UInt8](repeating: byte, count: size), .persistent)
                }
                return Transaction(operations: operations)
            }
            let accepted = try await store.commit(transaction(of: 1))
            try await expect(.limitExceeded, from: "a transaction of one byte more than the limit") {
                try await store.commit(transaction(of: 2, and: 1))
            }
            let entries = try await store.list().entries
            try expect(entries.map(\.key), is: keys, "the keys")
            try expect(entries.reduce(0) { $0 + $1.value.count + 6 }, is: limit, "the bytes that stand")
            try expect(
                entries.allSatisfy { $0.revision == accepted.revision && $0.value.allSatisfy { $0 == 1 } },
                "nothing of the refused transaction is there")
        }
    }

    static let stepsAreBounded = ConformanceCase(
        "S10c", "a transaction has at most 65,536 guards and operations"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            func transaction(guards: Int, deletions: Int) -> Transaction {
                Transaction(
                    guards: Array(repeating: .absent("gone"), count: guards),
                    operations: [.put("k", [UInt8(guards % 251)], .persistent)]
                        + Array(repeating: .delete("gone"), count: deletions))
            }
            for (guards, deletions) in [(0, 65_535), (65_535, 0), (30_000, 35_535)] {
                let commit = try await store.commit(transaction(guards: guards, deletions: deletions))
                let entry = try await store.get("k")
                let expected = "\(guards) guards and \(deletions + 1) operations take effect"
                try expect(entry?.revision == commit.revision && entry?.value == [UInt8(guards % 251)], expected)
                try await expect(.limitExceeded, from: "\(guards) guards and \(deletions + 2) operations") {
                    try await store.commit(transaction(guards: guards, deletions: deletions + 1))
                }
                try expect(try await store.get("k"), is: entry, "the entry after the refusal")
            }
        }
    }

    static let namesAreBounded = ConformanceCase(
        "S10d", "a group has at most 65,536 notification names with a state word"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let names = try (0..<65_536).map { try NotificationName("name \($0)") }
            for part in stride(from: 0, to: names.count, by: 8192) {
                _ = try await store.commit(
                    Transaction(operations: names[part..<part + 8192].map { .post($0, state: 1) }))
            }
            try await expect(.limitExceeded, from: "a post of a 65,537th name") {
                try await store.commit(
                    Transaction(operations: [.put("k", [1], .persistent), .post("one more", state: 1)]))
            }
            try expect(try await store.get("k"), is: nil, "what the refused transaction would have put")
            try expect(try await store.state(of: "one more"), is: .never, "the state of the refused name")
            try await store.post(names[0], state: 2)
            let state = try await store.state(of: names[0])
            try expect(state.count == 2 && state.state == 2, "a name that is there is posted again")
        }
    }

    static let storesAreBounded = ConformanceCase(
        "S10e", "a full store refuses growth, accepts what shrinks it, and works again"
    ) { context in
        let limits = Limits(valueByteCount: 20_000, transactionByteCount: 50_000, storeByteCount: 100_000)
        try await context.withGroup(GroupSettings(limits: limits)) { group in
            let store = try await group.open()
            try expect(store.capabilities.limits, is: limits, "the declared limits")
            func value(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
            // Ten entries of 10,000 bytes with their keys: exactly the limit.
            for number in 0..<10 { try await store.put(Key("k\(number)"), value(1, 9998)) }
            let full = try await store.list().entries
            let growing: [(String, Transaction)] = [
                ("an empty value under one key more", Transaction(operations: [.put("x", [], .persistent)])),
                ("one byte more", Transaction(operations: [.put("k0", value(2, 9999), .persistent)])),
                (
                    "one byte more in an exchange",
                    Transaction(operations: [.delete("k1"), .put("y1", value(2, 9999), .persistent)])
                ),
            ]
            for (what, transaction) in growing {
                try await expect(.limitExceeded, from: what) { try await store.commit(transaction) }
            }
            try expect(try await store.list().entries == full, "nothing of what was refused is there")

            try await store.put("k0", value(2, 9998))
            try await store.put("k0", value(3, 9997))
            try await store.put("x", [])
            try await store.post("news", state: 1)
            _ = try await store.commit(
                Transaction(operations: [.deletePrefix(.all), .put("z", value(4, 20_000), .persistent)]))
            try expect(try await store.list().entries.map(\.key), is: ["z"], "the keys after the clear")
            for number in 0..<7 { try await store.put(Key("n\(number)"), value(5, 9998)) }
            try await expect(.limitExceeded, from: "a put into the store that is full again") {
                try await store.put("n7", value(5, 9998))
            }
            try await store.put("n7", value(5, 9997))
        }
    }

    static let endsMakeRoom = ConformanceCase(
        "S10f", "the end of a session and an expiry make room in a full store (S8)"
    ) { context in
        let clock = ManualClock()
        let limits = Limits(valueByteCount: 60_000, transactionByteCount: 60_000, storeByteCount: 100_000)
        try await context.withGroup(GroupSettings(clock: clock, limits: limits)) { group in
            let store = try await group.open()
            let guest = try await group.open()
            try await guest.put("guest", [UInt8](repeating: 1, count: 59_000), lifetime: .session)
            let large = [UInt8](repeating: 2, count: 59_000)
            try await expect(.limitExceeded, from: "a put beside what lives with the guest") {
                try await store.put("own", large)
            }
            await guest.close()
            try await store.put("own", large, lifetime: .expiring(after: .seconds(5)))
            try await expect(.limitExceeded, from: "a put beside what has not expired") {
                try await store.put("next", large)
            }
            clock.advance(by: .seconds(6))
            try await eventually("there is room after the expiry") {
                try await code { try await store.put("next", large) } == nil
            }
        }
    }

    static let entriesAreBounded = ConformanceCase(
        "S10i", "a store has no more entries than it declares; one more is refused, and what adds none is accepted"
    ) { context in
        try await context.withGroup(GroupSettings(limits: Limits(entryCount: 40))) { group in
            let store = try await group.open()
            let keys = try (0..<40).map { try Key("\($0 / 20)/\($0)") }
            _ = try await store.commit(Transaction(operations: keys.map { .put($0, [], .persistent) }))
            let growing = Transaction(operations: [.put("more", [], .persistent), .post("told", state: 1)])
            try await expect(.limitExceeded, from: "one entry more") { try await store.commit(growing) }
            try expect(try await store.get("more"), is: nil, "the entry that was refused")
            try expect(try await store.state(of: "told"), is: .never, "the rest of the refused transaction")
            try await store.put("0/0", [1])
            _ = try await store.commit(Transaction(operations: [.delete("0/0"), .put("more", [], .persistent)]))
            _ = try await store.commit(Transaction(operations: [.deletePrefix("1"), .put("1/new", [], .persistent)]))
            try expect(try await store.list().entries.count, is: 21, "what stands after a deletion by prefix")
        }
    }

    static let participantsHaveRoom = ConformanceCase(
        "S10k", "in a full store entries that live with a session have room: owners, expectations and takes"
    ) { context in
        let sizes = Limits(valueByteCount: 20_000, transactionByteCount: 50_000, storeByteCount: 100_000)
        for limits in [sizes, Limits(entryCount: 10)] {
            try await context.withGroup(GroupSettings(limits: limits)) { group in
                let store = try await group.open()
                for number in 0..<10 { try await store.put(Key("k\(number)"), [UInt8](repeating: 1, count: 9998)) }
                func refuses(_ what: String, _ operations: Transaction.Operation...) async throws {
                    try await expect(.limitExceeded, from: what) {
                        try await store.commit(Transaction(operations: operations))
                    }
                }
                try await refuses("one key more", .put("more", [], .persistent))
                let owner = Transaction.Operation.put("owner", [1], .session)
                _ = try await store.commit(
                    Transaction(operations: [owner, .put("told/1", [UInt8](repeating: 2, count: 200), .persistent)]))
                try await refuses(
                    "what lives with a session but is large",
                    .put("o", [UInt8](repeating: 3, count: 16 << 10), .session))
                // Commit what a release of the ownership does: a deletion together with a timeline entry.
                _ = try await store.commit(
                    Transaction(operations: [
                        .delete("owner"), .put("told/2", [UInt8](repeating: 2, count: 200), .persistent),
                    ]))
                try await refuses(
                    "a key with a deletion of what is not there", .delete("owner"), .put("more", [], .persistent))
                try await refuses(
                    "a key with a deletion of what stays", .delete("told/1"), .put("more", [4], .persistent),
                    .put("m", [UInt8](repeating: 4, count: 300), .persistent))
                let guest = try await group.open()
                try await guest.put("guest", [5], lifetime: .session)
                await guest.close()
                try expect(
                    try await store.list().entries.map(\.key).suffix(2), is: ["told/1", "told/2"],
                    "the last keys that stand")
            }
        }
    }

    static let coresRunInFullStores = ConformanceCase(
        "S10l", "in a full store a core starts and stops, and a message is taken and acknowledged"
    ) { context in
        let sizes = Limits(valueByteCount: 20_000, transactionByteCount: 50_000, storeByteCount: 100_000)
        for limits in [sizes, Limits(entryCount: 60)] {
            try await context.withTestCluster(GroupSettings(limits: limits)) { testCluster in
                try testCluster.receive("call-1", "call-2")
                let first = try await testCluster.executor("first")
                try await first.ask("call-1")
                try TestCluster.check(try await first.answer(), isTextOf: "call-1", "what the first gets")
                try await first.tell("acknowledge 1")
                try await first.tell("finish")
                try await first.tell("leave")

                let store = testCluster.observer
                var number = 0
                for size in [9_000, 900, 90, 9, 0] {
                    while try await code(of: {
                        try await store.put(Key("fill/\(number)"), [UInt8](repeating: 1, count: size))
                    }) == nil {
                        number += 1
                    }
                }
                func refusesContent(_ what: String, at key: Key) async throws {
                    try await expect(.limitExceeded, from: "\(what) in the full store") {
                        try await store.put(key, [UInt8](repeating: 1, count: 20))
                    }
                }
                try await refusesContent("an entry", at: "more")

                let main = try await testCluster.owningMain()
                let second = try await testCluster.executor("second")
                try await second.ask("call-2")
                try expect(
                    try await second.answer(), is: TestCluster.answer("call-2", from: .inbox), "what the second gets")
                try expect(try await second.tell("acknowledge 1"), is: "true", "whether it was still its own")
                try await second.ask("call-3", as: 2, timeout: .milliseconds(200))
                try expect(
                    try await second.answer(2), is: "failed timeout", "what the third call hears")
                try await main.tell("leave")
                try expect(try await testCluster.owner(), is: nil, "the owner when the Main has left")
                try expect(try await testCluster.coreStarts(), is: 2, "the cores that the timeline tells of")

                try await refusesContent("a message of a mailbox", at: ".sharedcore/mailboxes/a/queue/b/c/m")
                try await refusesContent("a push", at: ".sharedcore/pushes/a/m")
                try await refusesContent("a push for Main", at: ".sharedcore/main-pushes/a/m")
                try await refusesContent("a message of the inbox", at: ".sharedcore/inbox/a/m")
            }
        }
    }

    /// Returns a size that a case can try, unless it is too large for the memory of any machine.
    private static func trying(_ byteCount: Int) throws -> Int {
        guard byteCount <= 64 << 20 else {
            throw HarnessLimitation("the declared limit of \(byteCount) bytes is too large to be tried")
        }
        return byteCount
    }
}
