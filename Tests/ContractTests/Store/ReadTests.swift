internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S4: reads see what has returned", .timeLimit(.minutes(10)))
struct ReadTests {
    @Test("S4: `get` and `list` on any handle reflect every commit that had returned", arguments: Backend.all)
    func readsAreLinearizable(backend: Backend) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 4)
            for round in 0..<200 {
                let value = withUnsafeBytes(of: round) { Array($0) }
                let commit = try await handles[round % 4].put("k", value)
                for reader in handles {
                    #expect(try await reader.get("k")?.value == value)
                    #expect(try await reader.list().revision >= commit.revision)
                }
            }
        }
    }

    @Test("S4: `.causal` reads never go back behind what the handle has seen", arguments: Backend.all)
    func causalReadsNeverGoBack(backend: Backend) async throws {
        try await backend.withGroup { group in
            let writer = try await group.open()
            let reader = try await group.open()
            try await writer.put("k", [0])
            let done = Box(false)
            async let writing: Void = {
                for _ in 0..<2000 { try await writer.put("k", [0]) }
                done.update { $0 = true }
            }()
            var seen = Revision.zero
            var turn = 0
            while !done.value {
                await Task.yield()
                turn += 1
                let consistency: ReadConsistency = turn.isMultiple(of: 3) ? .linearizable : .causal
                let revision = try await reader.get("k", consistency: consistency)?.revision ?? .zero
                #expect(revision >= seen)
                let list = try await reader.list(.all, consistency: consistency)
                #expect(list.revision >= revision)
                seen = list.revision
            }
            try await writing
            let own = try await reader.put("k", [1])
            #expect(try await reader.get("k", consistency: .causal)?.revision == own.revision)
        }
    }

    @Test(
        "S4: a list holds exactly what the prefix selects, in the order of the keys", arguments: Backend.all,
        Seed.several(2))
    func listsAreExact(backend: Backend, seed: Seed) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            var random = SplitMix64(seed)
            var expected: [Key: [UInt8]] = [:]
            func path(upTo length: Int) -> String {
                String(
                    (0..<Int.random(in: 1...length, using: &random)).map { _ in
                        "ab-/".randomElement(using: &random) ?? "a"
                    })
            }
            for round in 0..<300 {
                let key = try Key(path(upTo: 6))
                if random.once(in: 4) {
                    expected[key] = nil
                    try await store.delete(key)
                } else {
                    expected[key] = [UInt8(truncatingIfNeeded: round)]
                    try await store.put(key, [UInt8(truncatingIfNeeded: round)])
                }
                let prefix = random.once(in: 6) ? .all : try KeyPrefix(path(upTo: 3))
                let listed = try await store.list(prefix).entries
                let selected = expected.keys.filter(prefix.contains).sorted()
                #expect(listed.map(\.key) == selected, "prefix \(prefix)")
                #expect(listed.map(\.value) == selected.map { expected[$0] ?? [] })
            }
        }
    }

    @Test("S4: nothing there is an empty list", arguments: Backend.all)
    func nothingIsAnEmptyList(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            #expect(try await store.list().entries == [])
            #expect(try await store.list("a/b").entries == [])
            try await store.put("a/bc", [1])
            #expect(try await store.list("a/b").entries == [])
            #expect(try await store.list("a/b/").entries == [])
        }
    }
}
