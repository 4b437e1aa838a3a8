internal import CoreAPI

/// S5: a transaction is whole.
enum TransactionCases {
    static let all = [guardsAreJudged, operationsApplyInOrder, emptyTransactions, neverSeenInPart]

    static let guardsAreJudged = ConformanceCase(
        "S5a", "each kind of guard holds or fails by its rule, and a failure gives its index and the present entry"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let created = try await store.put("there", [1]).revision
            let written = try await store.put("there", [2]).revision
            let present = try await store.get("there")
            let never = Revision(rawValue: written.rawValue + 1000)

            let holding: [Transaction.Guard] = [
                .absent("gone"), .exists("there"), .revision("there", written), .epoch("there", created),
            ]
            let commit = try await store.commit(Transaction(guards: holding, operations: [.put("a", [1], .persistent)]))
            try expect(commit.changed, "a transaction whose guards hold takes effect")
            let recorder = try await WatchRecorder(store)

            let failing: [Transaction.Guard] = [
                .absent("there"), .exists("gone"), .revision("there", created), .revision("there", never),
                .revision("gone", written), .epoch("there", written), .epoch("gone", created), .revision("gone", .zero),
                .epoch("gone", .zero),
            ]
            for condition in failing {
                let transaction = Transaction(
                    guards: holding + [condition, .exists("gone")],
                    operations: [.put("b", [1], .persistent), .delete("there"), .post("news", state: 1)])
                let outcome = try await attempt { try await store.commit(transaction) }
                guard case .failure(let error) = outcome else {
                    return try expect(false, "a transaction with the failing guard \(condition) is refused")
                }
                try expect(error.code, is: .guardFailed, "the code for \(condition)")
                let failure = try expectSome(error.guardFailure, "the failure of \(condition)")
                try expect(failure.index, is: holding.count, "the index of the first failed guard, \(condition)")
                try expect(failure.condition, is: condition, "the guard that failed")
                try expect(failure.found, is: condition.key == "there" ? present : nil, "what \(condition) found")
            }
            try expect(try await store.get("b"), is: nil, "what a refused transaction would have put")
            try expect(try await store.get("there"), is: present, "what a refused transaction would have deleted")
            try expect(try await store.state(of: "news"), is: .never, "what a refused transaction would have posted")
            let next = try await store.put("a", [2])
            try await recorder.reaches(next.revision)
            try expect(recorder.mirror.changedRevisions, is: [next.revision], "the revisions that a watch saw")
        }
    }

    static let operationsApplyInOrder = ConformanceCase(
        "S5b", "operations apply in their order; guards are checked against the state before the first one"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            try await store.put("p/old", [0])
            let recorder = try await WatchRecorder(store)
            let commit = try await store.commit(
                Transaction(
                    guards: [.absent("p/new"), .exists("p/old")],
                    operations: [
                        .put("p/new", [1], .persistent), .put("p/new", [2], .persistent), .put("x", [1], .persistent),
                        .delete("x"), .deletePrefix("p"), .put("p/new", [3], .persistent),
                        .post("news", state: 1), .post("news", state: nil), .post("news", state: 7),
                    ]))
            let listed = try await store.list()
            let entry = Entry(
                key: "p/new", value: [3], revision: commit.revision, creationRevision: commit.revision,
                lifetime: .persistent, origin: store.session.id)
            try expect(listed.entries, is: [entry], "what stands after the transaction")
            try expect(listed.revision >= commit.revision, "the list reflects the transaction")
            let news = NotificationState(state: 7, count: 3, revision: commit.revision, origin: store.session.id)
            try expect(try await store.state(of: "news"), is: news, "the state after three posts")

            try await recorder.reaches(commit.revision)
            let mirror = recorder.mirror
            try expect(mirror.changedRevisions, is: [commit.revision], "the revisions that a watch saw")
            try expect(mirror.breaches, is: [], "breaches of the watch's order")
            try expect(mirror.entries, is: ["p/new": entry], "the entries as the watch tells them")
        }
    }

    static let emptyTransactions = ConformanceCase(
        "S5c", "a transaction of nothing, or of guards alone, changes nothing"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let before = try await store.put("k", [1]).revision
            let unchanged = Commit(revision: before, changed: false)
            try expect(try await store.commit(Transaction()), is: unchanged, "a transaction of nothing")
            let held = try await store.commit(Transaction(guards: [.exists("k")]))
            try expect(held, is: unchanged, "a transaction of a guard that holds")
            try await expect(.guardFailed, from: "a transaction of a guard that fails") {
                try await store.commit(Transaction(guards: [.absent("k")]))
            }
            try expect(try await store.get("k")?.revision, is: before, "the revision of the entry")
        }
    }

    static let neverSeenInPart = ConformanceCase(
        "S5d", "no reader sees a part of a transaction: a sum moved between accounts is never lost nor doubled"
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 6)
            let accounts = try (0..<8).map { try Key("account/\($0)") }
            _ = try await handles[0].commit(Transaction(operations: accounts.map { .put($0, [100], .persistent) }))
            let watch = try await group.open().watch("account")
            let watching = Task {
                var mirror = WatchMirror(of: ["account"], keepsChanges: false)
                while mirror.entries["account/end"] == nil, let event = try await watch.next() {
                    mirror.apply(event)
                    try expect(sum(mirror.entries.values), is: 800, "a watch's sum at revision \(mirror.revision)")
                }
                return mirror.breaches
            }
            defer { watching.cancel() }
            for handle in handles { try await handle.catchUp() }
            let working = Box(4)
            let seed = context.seed.rawValue
            let moved = try await together(6) { number in
                let store = handles[number]
                guard number < 4 else {
                    while working.value > 0 {
                        await Task.yield()
                        try expect(sum(try await store.list("account").entries), is: 800, "the sum of a list")
                    }
                    return 0
                }
                defer { working.update { $0 -= 1 } }
                return try await move(between: accounts, in: store, seed: seed &+ UInt64(number))
            }
            try expect(moved.reduce(0, +) > 0, "some transfers come through")
            try await handles[0].put("account/end", [0])
            let breaches = try await withTimeout(TestTimeout.usual, "the watch ends") { try await watching.value }
            try expect(breaches, is: [], "breaches of the watch's order")
        }
    }

    /// Makes transfers of one unit between random accounts, and returns how many succeeded.
    private static func move(
        between accounts: [Key], in store: any SharedStore, seed: UInt64
    ) async throws -> Int {
        var random = SeededRandom(seed: seed)
        var moved = 0
        for _ in 0..<300 {
            let from = try await store.get(accounts[Int.random(in: 0..<accounts.count, using: &random)])
            let to = try await store.get(accounts[Int.random(in: 0..<accounts.count, using: &random)])
            guard let from, let to, from.key != to.key, from.value[0] > 0, to.value[0] < 255 else { continue }
            let transfer = Transaction(
                guards: [.revision(from.key, from.revision), .revision(to.key, to.revision)],
                operations: [
                    .put(from.key, [from.value[0] - 1], .persistent), .put(to.key, [to.value[0] + 1], .persistent),
                ])
            switch try await attempt({ try await store.commit(transfer) }) {
            case .success: moved += 1
            case .failure(let error): try expect(error.code, is: .guardFailed, "why a transfer was refused")
            }
        }
        return moved
    }

    private static func sum(_ entries: some Collection<Entry>) -> Int {
        entries.reduce(0) { $0 + $1.value.reduce(0) { $0 + Int($1) } }
    }
}
