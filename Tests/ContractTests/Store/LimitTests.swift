internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S10: what is too large is refused, and nothing of it is done", .timeLimit(.minutes(10)))
struct LimitTests {
    @Test(
        "S2, S10: a value of the limit is accepted, one byte more is refused and nothing is written",
        arguments: Backend.all)
    func valuesAreBounded(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let limit = store.capabilities.limits.valueByteCount
            #expect(limit == 1 << 20)
            let accepted = try await store.put("k", [UInt8](repeating: 1, count: limit))
            let tooLarge = [UInt8](repeating: 2, count: limit + 1)
            #expect(try await code { try await store.put("k", tooLarge) } == .limitExceeded)
            #expect(try await code { try await store.put("new", tooLarge) } == .limitExceeded)
            #expect(try await store.get("k")?.revision == accepted.revision)
            #expect(try await store.get("k")?.value.first == 1)
            #expect(try await store.list().entries.count == 1)
            #expect(try await store.list().revision == accepted.revision)
        }
    }

    @Test("S10: a transaction of the limit is accepted, one byte more is refused as a whole", arguments: Backend.all)
    func transactionsAreBounded(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let limits = store.capabilities.limits
            #expect(limits.transactionByteCount == 4 << 20)
            // Four values under keys of two bytes each: together exactly the limit.
            let quarter = limits.transactionByteCount / 4 - 2
            func transaction(last extra: Int) throws -> Transaction {
                var transaction = Transaction()
                for number in 0..<4 {
                    let key = try Key("k\(number)")
                    transaction.put(key, [UInt8](repeating: UInt8(extra), count: quarter + (number == 3 ? extra : 0)))
                }
                return transaction
            }
            let accepted = try await store.commit(transaction(last: 0))
            #expect(try await code { try await store.commit(transaction(last: 1)) } == .limitExceeded)
            let entries = try await store.list().entries
            #expect(entries.count == 4)
            #expect(entries.allSatisfy { $0.revision == accepted.revision && $0.value.first == 0 })
        }
    }

    @Test("S10: a full store refuses growth, accepts what shrinks it, and works again", arguments: Backend.all)
    func storesAreBounded(backend: Backend) async throws {
        let limits = Limits(valueByteCount: 20_000, transactionByteCount: 50_000, storeByteCount: 100_000)
        try await backend.withGroup(Backend.Settings(limits: limits)) { group in
            let store = try await group.open()
            #expect(store.capabilities.limits == limits)
            // Ten entries of 10,000 bytes with their keys: exactly the limit.
            for number in 0..<10 { try await store.put(Key("k\(number)"), [UInt8](repeating: 1, count: 9998)) }
            let full = try await store.list()
            #expect(try await code { try await store.put("x", []) } == .limitExceeded)
            #expect(try await code { try await store.put("k0", [UInt8](repeating: 2, count: 9999)) } == .limitExceeded)
            let exchange = Transaction(
                operations: [.delete("k1"), .put("y1", [UInt8](repeating: 2, count: 9999), .persistent)])
            #expect(try await code { try await store.commit(exchange) } == .limitExceeded)
            #expect(try await store.list() == full)

            try await store.put("k0", [UInt8](repeating: 2, count: 9998))
            try await store.put("k0", [UInt8](repeating: 3, count: 9997))
            try await store.put("x", [])
            try await store.post("news", state: 1)
            let replacement = Transaction(
                operations: [.deletePrefix(.all), .put("z", [UInt8](repeating: 4, count: 20_000), .persistent)])
            _ = try await store.commit(replacement)
            #expect(try await store.list().entries.map(\.key) == ["z"])
            for number in 0..<7 { try await store.put(Key("n\(number)"), [UInt8](repeating: 5, count: 9998)) }
            #expect(try await code { try await store.put("n7", [UInt8](repeating: 5, count: 9998)) } == .limitExceeded)
        }
    }

    @Test("S10: what leaves by itself makes room: a session's end and an expiry", arguments: Backend.all)
    func endsMakeRoom(backend: Backend) async throws {
        let clock = ManualClock()
        let limits = Limits(valueByteCount: 60_000, transactionByteCount: 60_000, storeByteCount: 100_000)
        try await backend.withGroup(Backend.Settings(clock: clock, limits: limits)) { group in
            let store = try await group.open()
            let guest = try await group.open()
            try await guest.put("guest", [UInt8](repeating: 1, count: 59_000), lifetime: .session)
            let large = [UInt8](repeating: 2, count: 59_000)
            #expect(try await code { try await store.put("own", large) } == .limitExceeded)
            await guest.close()
            try await store.put("own", large, lifetime: .expiring(after: .seconds(5)))
            #expect(try await code { try await store.put("next", large) } == .limitExceeded)
            clock.advance(by: .seconds(6))
            try await store.put("next", large)
        }
    }
}
