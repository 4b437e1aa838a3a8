internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S5: a transaction is whole", .timeLimit(.minutes(10)))
struct TransactionTests {
    @Test(
        "S5: every guard holds or fails as it says, and a failure tells which one and what stands there",
        arguments: Backend.all)
    func guardsAreJudged(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let created = try await store.put("there", [1]).revision
            let written = try await store.put("there", [2]).revision
            let present = try await store.get("there")
            let never = Revision(rawValue: written.rawValue + 1000)

            let holding: [Transaction.Guard] = [
                .absent("gone"), .exists("there"), .revision("there", written), .epoch("there", created),
            ]
            let commit = try await store.commit(Transaction(guards: holding, operations: [.put("a", [1], .persistent)]))
            #expect(commit.changed)

            let failing: [Transaction.Guard] = [
                .absent("there"), .exists("gone"), .revision("there", created), .revision("there", never),
                .revision("gone", written), .epoch("there", written), .epoch("gone", created), .revision("gone", .zero),
            ]
            for condition in failing {
                let transaction = Transaction(
                    guards: holding + [condition, .exists("gone")],
                    operations: [.put("b", [1], .persistent), .delete("there"), .post("news", state: 1)])
                let error = await #expect(throws: SharedCoreError.self) { try await store.commit(transaction) }
                #expect(error?.code == .guardFailed)
                #expect(error?.guardFailure?.index == holding.count)
                #expect(error?.guardFailure?.condition == condition)
                #expect(error?.guardFailure?.found == (condition.key == "there" ? present : nil))
            }
            #expect(try await store.get("b") == nil)
            #expect(try await store.get("there") == present)
            #expect(try await store.state(of: "news") == .never)
            #expect(try await store.list().revision == commit.revision, "a refused transaction uses no revision")
        }
    }

    @Test("S5: operations apply in their order; guards look at what stood before", arguments: Backend.all)
    func operationsApplyInOrder(backend: Backend) async throws {
        try await backend.withGroup { group in
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
            #expect(listed.entries.map(\.key) == ["p/new"])
            #expect(listed.entries.first?.value == [3])
            #expect(listed.revision == commit.revision)
            let news = try await store.state(of: "news")
            #expect(news == NotificationState(state: 7, count: 3, revision: commit.revision, origin: store.session.id))

            try await recorder.reaches(commit.revision)
            let mirror = recorder.mirror
            #expect(mirror.changedRevisions == [commit.revision])
            #expect(mirror.breaches == [])
            #expect(mirror.entries.keys.sorted() == ["p/new"])
        }
    }

    @Test("S5: a transaction of nothing, or of guards alone, changes nothing", arguments: Backend.all)
    func emptyTransactions(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let before = try await store.put("k", [1]).revision
            #expect(try await store.commit(Transaction()) == Commit(revision: before, changed: false))
            #expect(
                try await store.commit(Transaction(guards: [.exists("k")])) == Commit(revision: before, changed: false))
            let refused = try await code { try await store.commit(Transaction(guards: [.absent("k")])) }
            #expect(refused == .guardFailed)
        }
    }

    @Test(
        "S5: nobody sees a part of a transaction: what is moved between accounts is never lost nor doubled",
        arguments: Backend.all, Seed.several(2))
    func transactionsAreNeverSeenInPart(backend: Backend, seed: Seed) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 6)
            let accounts = try (0..<8).map { try Key("account/\($0)") }
            _ = try await handles[0].commit(Transaction(operations: accounts.map { .put($0, [100], .persistent) }))
            let watch = try await group.open().watch("account")
            let working = Box(4)
            let watching = Task {
                var mirror = WatchMirror(of: ["account"], keepsChanges: false)
                while working.value > 0, let event = try await watch.next() {
                    mirror.apply(event)
                    let sum = mirror.entries.values.reduce(0) { $0 + Int($1.value[0]) }
                    if sum != 800 { Issue.record("a watch saw the sum \(sum) at revision \(mirror.revision)") }
                }
                return mirror.breaches
            }
            let moved = try await together(6) { number in
                let store = handles[number]
                var random = SplitMix64(seed: seed.rawValue &+ UInt64(number))
                var moved = 0
                if number < 4 {
                    for _ in 0..<150 {
                        let from = try await store.get(accounts.randomElement(using: &random) ?? "account/0")
                        let to = try await store.get(accounts.randomElement(using: &random) ?? "account/1")
                        guard let from, let to, from.key != to.key, from.value[0] > 0, to.value[0] < 255 else {
                            continue
                        }
                        let transfer = Transaction(
                            guards: [.revision(from.key, from.revision), .revision(to.key, to.revision)],
                            operations: [
                                .put(from.key, [from.value[0] - 1], .persistent),
                                .put(to.key, [to.value[0] + 1], .persistent),
                            ])
                        let outcome = try await attempt {
                            try await store.commit(transfer)
                        }
                        switch outcome {
                        case .success: moved += 1
                        case .failure(let error): #expect(error.code == .guardFailed)
                        }
                    }
                    working.update { $0 -= 1 }
                } else {
                    while working.value > 0 {
                        await Task.yield()
                        let sum = try await store.list("account").entries.reduce(0) { $0 + Int($1.value[0]) }
                        #expect(sum == 800)
                    }
                }
                return moved
            }
            #expect(moved.reduce(0, +) > 0, "no transfer came through")
            // One more change, so that the watching task looks at its end once more.
            try await handles[0].put("account/0", try await handles[0].get("account/0")?.value ?? [])
            #expect(try await within(Patience.usual, "the watch ends") { try await watching.value } == [])
        }
    }
}
