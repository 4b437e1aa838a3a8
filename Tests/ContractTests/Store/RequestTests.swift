internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S12: a retry of a numbered request gives the first result", .timeLimit(.minutes(10)))
struct RequestTests {
    private func increment(_ number: UInt64?, if conditions: [Transaction.Guard] = []) -> Transaction {
        Transaction(
            guards: conditions, operations: [.put("k", [1], .persistent), .post("done", state: nil)],
            requestNumber: number)
    }

    @Test("S12: it is applied once, and every retry gets the first commit", arguments: Backend.all)
    func retriesAreAppliedOnce(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let first = try await store.commit(increment(1))
            for _ in 0..<3 { #expect(try await store.commit(increment(1)) == first) }
            #expect(try await store.state(of: "done").count == 1)
            #expect(try await store.commit(increment(2)).revision > first.revision)
            #expect(try await store.commit(increment(1)) == first)
            #expect(try await store.commit(increment(nil)).changed)
            #expect(try await store.commit(increment(nil)).changed)
            #expect(try await store.state(of: "done").count == 4)
        }
    }

    @Test("S12: the first result holds even when the guard would now decide otherwise", arguments: Backend.all)
    func firstResultHolds(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let won = try await store.commit(increment(1, if: [.absent("k")]))
            #expect(try await store.commit(increment(1, if: [.absent("k")])) == won)

            let refused = try await attempt { try await store.commit(increment(2, if: [.absent("k")])) }
            guard case .failure(let error) = refused else { return #expect(Bool(false), "the guard held") }
            #expect(error.code == .guardFailed)
            try await store.delete("k")
            let again = try await attempt { try await store.commit(increment(2, if: [.absent("k")])) }
            #expect(again == .failure(error))
            #expect(try await store.get("k") == nil)
            #expect(try await store.state(of: "done").count == 1)
        }
    }

    @Test("S12: one that changed nothing is remembered as well", arguments: Backend.all)
    func unchangedIsRemembered(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let deletion = Transaction(operations: [.delete("k")], requestNumber: 1)
            let first = try await store.commit(deletion)
            #expect(!first.changed)
            let put = try await store.put("k", [1])
            #expect(try await store.commit(deletion) == first)
            #expect(try await store.get("k")?.revision == put.revision)
        }
    }

    @Test("S12: numbers belong to a session", arguments: Backend.all)
    func numbersBelongToASession(backend: Backend) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 3)
            let revisions = try await together(3) { try await handles[$0].commit(increment(7)).revision }
            #expect(Set(revisions).count == 3)
            #expect(try await handles[0].state(of: "done").count == 3)
        }
    }

    @Test("S12: the last 64 results are kept; an older number is refused, never applied", arguments: Backend.all)
    func oldNumbersAreRefused(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            var commits: [UInt64: Commit] = [:]
            for number in 1...100 as ClosedRange<UInt64> { commits[number] = try await store.commit(increment(number)) }
            for number in 37...100 as ClosedRange<UInt64> {
                #expect(try await store.commit(increment(number)) == commits[number])
            }
            for number in [1, 36] as [UInt64] {
                #expect(try await code { try await store.commit(increment(number)) } == .invalidArgument)
            }
            #expect(try await store.state(of: "done").count == 100)
        }
    }

    @Test("S12: retries that run at once are applied once", arguments: Backend.all)
    func concurrentRetriesAreAppliedOnce(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            for number in 1...20 as ClosedRange<UInt64> {
                let commits = try await together(8) { _ in try await store.commit(increment(number)) }
                #expect(Set(commits).count == 1)
            }
            #expect(try await store.state(of: "done").count == 20)
        }
    }
}
