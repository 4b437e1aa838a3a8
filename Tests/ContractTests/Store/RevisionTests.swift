internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S3, S7: revisions only rise, and deleted is deleted", .timeLimit(.minutes(10)))
struct RevisionTests {
    @Test("S3: one strictly rising number over all keys, handles, deletes, clears and posts", arguments: Backend.all)
    func revisionsRise(backend: Backend) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 3)
            var last = handles.map { Revision(rawValue: $0.session.id.rawValue) }.max() ?? .zero
            func follows(_ revision: Revision) {
                #expect(revision > last)
                last = revision
            }
            for round in 0..<20 {
                let store = handles[round % 3]
                follows(try await store.put(Key("a/\(round)"), [UInt8(round)]).revision)
                follows(try await store.put("b", [UInt8(round)]).revision)
                follows(try await store.post("news"))
                follows(try await store.delete("b").revision)
                if round.isMultiple(of: 5) {
                    follows(try await store.commit(Transaction(operations: [.deletePrefix("a")])).revision)
                }
            }
            #expect(try await handles[0].list().revision >= last)
        }
    }

    @Test(
        "S3: concurrent commits get different revisions, in the order in which each task made them",
        arguments: Backend.all)
    func concurrentRevisionsDiffer(backend: Backend) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 8)
            let revisions = try await together(8) { number in
                var revisions: [Revision] = []
                for _ in 0..<200 { revisions.append(try await handles[number].put("k", [UInt8(number)]).revision) }
                return revisions
            }
            for own in revisions { #expect(own == own.sorted()) }
            #expect(Set(revisions.flatMap { $0 }).count == 1600)
        }
    }

    @Test("S7: a key that is created again is another entry", arguments: Backend.all)
    func createdAgainIsAnother(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let first = try await store.put("k", [1]).revision
            try await store.delete("k")
            let second = try await store.put("k", [1])
            let entry = try await store.get("k")
            #expect(second.revision > first)
            #expect(entry?.creationRevision == second.revision)
            for condition in [Transaction.Guard.revision("k", first), .epoch("k", first)] {
                #expect(try await code { try await store.put("k", [2], if: condition) } == .guardFailed)
            }
            try await store.put("k", [2], if: .epoch("k", second.revision))
            try await store.put("k", [3], if: .epoch("k", second.revision))
            #expect(try await store.get("k")?.creationRevision == second.revision)
        }
    }

    @Test("S7: deleting and creating in one transaction makes another entry", arguments: Backend.all)
    func replacedInOneTransactionIsAnother(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let first = try await store.put("k", [1]).revision
            let second = try await store.commit(Transaction(operations: [.delete("k"), .put("k", [2], .persistent)]))
            #expect(try await store.get("k")?.creationRevision == second.revision)
            #expect(second.revision > first)
        }
    }

    @Test("S7: deleting an absent key succeeds, changes nothing and wakes nobody", arguments: Backend.all)
    func deletingTheAbsentIsNothing(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let put = try await store.put("other", [1])
            let recorder = try await WatchRecorder(store)
            let deleted = try await store.delete("k")
            #expect(!deleted.changed)
            #expect(deleted.revision == put.revision)
            let cleared = try await store.commit(Transaction(operations: [.deletePrefix("k"), .delete("k")]))
            #expect(!cleared.changed)
            #expect(try await store.list().revision == put.revision)
            let next = try await store.put("other", [2])
            try await recorder.reaches(next.revision)
            #expect(recorder.mirror.changedRevisions == [next.revision])
        }
    }
}
