internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@testable import StoreEngine

@Suite("S4: what a prefix selects, in a state that has many keys")
struct PrefixTests {
    private let session = SessionID(rawValue: 1)
    private let now = BootInstant(nanoseconds: 1)

    private func state(limits: Limits = Limits(), keys: [Key] = [], valueByteCount: Int = 0) -> StoreState {
        var state = StoreState(limits: limits)
        let process = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: 1, startTime: 1)
        state.apply(state.opening(SessionOpening(process: process, description: SessionDescription()), at: now))
        let value = [UInt8](repeating: 0, count: valueByteCount)
        for key in keys {
            state.apply(
                Effect(
                    revision: state.nextRevision, time: now,
                    body: .committed(session, requestNumber: nil, [.init(.put(key, value, .persistent))])))
        }
        return state
    }

    /// Keys that begin alike, some of which a prefix does not select although they stand between those that it does.
    private static func text(_ random: inout SeededRandom) -> String {
        String((0..<Int.random(in: 1...5, using: &random)).map { _ in "ab-/0".randomElement(using: &random) ?? "a" })
    }

    @Test("the index selects what the prefix contains", arguments: Seed.several(8))
    func selections(seed: Seed) throws {
        var random = SeededRandom(seed)
        for _ in 0..<100 {
            let keys = Set(try (0..<40).map { _ in try Key(Self.text(&random)) })
            var index = KeyIndex()
            index.prepare(from: keys)
            for _ in 0..<20 {
                let prefix = try KeyPrefix(Int.random(in: 0..<20, using: &random) == 0 ? "" : Self.text(&random))
                let expected = keys.filter(prefix.contains).sorted()
                #expect(index.selection(of: prefix) == expected, "\(prefix) of \(keys)")
            }
        }
        var index = KeyIndex()
        let longest = try Key(String(repeating: "a", count: Key.maximumByteCount))
        index.prepare(from: [longest])
        #expect(index.selection(of: KeyPrefix(longest)) == [longest])
    }

    @Test("the index selects what the prefix contains when keys have come and gone", arguments: Seed.several(4))
    func changedSelections(seed: Seed) throws {
        var random = SeededRandom(seed)
        var keys: Set<Key> = []
        var index = KeyIndex()
        index.prepare(from: keys)
        // Enough for several chunks, of which some become empty.
        for round in 0..<40 {
            for _ in 0..<100 {
                let key = try Key("\(Int.random(in: 0..<9, using: &random))/\(Int.random(in: 0..<900, using: &random))")
                if keys.insert(key).inserted { index.insert(key) }
            }
            let prefix = try KeyPrefix("\(Int.random(in: 0..<12, using: &random))")
            #expect(index.selection(of: prefix) == keys.filter(prefix.contains).sorted())
            #expect(index.selection(of: .all) == keys.sorted())
            let removed =
                switch round % 4 {
                case 0: keys.filter(prefix.contains)
                case 1: Set(keys.shuffled(using: &random).prefix(200))
                case 2: Set(keys.shuffled(using: &random).prefix(1))
                default: round % 12 == 3 ? keys : []
                }
            index.remove(removed.sorted())
            keys.subtract(removed)
            #expect(index.selection(of: .all) == keys.sorted())
        }
    }

    @Test("S10: what the store has after all operations decides whether it accepts them", arguments: Seed.several(8))
    func limits(seed: Seed) throws {
        var random = SeededRandom(seed)
        for _ in 0..<200 {
            let keys = Set(try (0..<20).map { _ in try Key(Self.text(&random)) })
            let state = state(limits: Limits(storeByteCount: 120), keys: Array(keys), valueByteCount: 2)
            let operations: [Transaction.Operation] = try (0..<Int.random(in: 1...8, using: &random)).map { _ in
                let text = Self.text(&random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: return .delete(try Key(text))
                case 1: return .deletePrefix(try KeyPrefix(text))
                default: return .put(try Key(text), [1, 2, 3, 4, 5], .persistent)
                }
            }
            var after: [Key: Int] = [:]
            for key in keys { after[key] = key.text.utf8.count + 2 }
            let before = after.values.reduce(0, +)
            for operation in operations {
                switch operation {
                case .put(let key, let value, _): after[key] = key.text.utf8.count + value.count
                case .delete(let key): after[key] = nil
                case .deletePrefix(let prefix): after = after.filter { !prefix.contains($0.key) }
                case .post: break
                }
            }
            let total = after.values.reduce(0, +)
            let isAccepted = (try? state.checkLimits(of: Transaction(operations: operations))) != nil
            #expect(isAccepted == (total <= 120 || total <= before), "\(operations) on \(keys)")
        }
    }

    @Test("S10: a store has no more entries than its limit, and what removes some is accepted")
    func entries() throws {
        let keys = try (0..<40).map { try Key("\($0 / 20)/\($0 % 20)") }
        var state = state(limits: Limits(entryCount: keys.count), keys: keys)
        func decision(_ operations: [Transaction.Operation]) throws -> StoreState.Decision {
            try state.decide(Transaction(operations: operations), of: session, at: now)
        }
        let one = Transaction.Operation.put("one", [], .persistent)
        let refused: [[Transaction.Operation]] = [
            [one], [.delete("0/0"), one, .put("two", [], .persistent)],
            [one, .deletePrefix("none"), .delete("none")], [.deletePrefix("0/0"), one, .put("0/0", [], .persistent)],
        ]
        for operations in refused {
            let error = #expect(throws: SharedCoreError.self) { try decision(operations) }
            #expect(error?.code == .limitExceeded, "\(operations)")
        }
        let accepted: [[Transaction.Operation]] = [
            [.put("0/0", [1], .persistent)], [.delete("0/0"), one], [one, .delete("one")], [one, .deletePrefix("0/0")],
            [one, one, .delete("1/9")],
        ]
        for operations in accepted { _ = try decision(operations) }
    }

    @Test("one entry that is written again and again costs no pass over all others")
    func expiringAgain() throws {
        var state = state(keys: try (0..<40_000).map { try Key("key-\($0)") })
        let puts = [Transaction.Operation](
            repeating: .put("k", [], .expiring(after: .seconds(9))), count: StoreState.stepLimit)
        let time = try processorTime {
            guard case .record(let effect, _) = try state.decide(Transaction(operations: puts), of: session, at: now)
            else { throw HarnessLimitation("no effect") }
            state.apply(effect)
        }
        #expect(time < .seconds(60))
        #expect(state.expiries.count <= 2 + 64)
        #expect(state.nextExpiry() == now.advanced(by: .seconds(9)))
    }

    @Test("many prefixes on many keys are judged in the time of both, not of their product")
    func manyPrefixes() throws {
        let keys = try (0..<40_000).map { try Key("key-\($0)") }
        let removals = try (0..<40_000).map { Transaction.Operation.deletePrefix(try KeyPrefix("none-\($0)")) }
        let time = try processorTime {
            var idle = state(keys: keys)
            guard
                case .answer(.committed(let commit)) = try idle.decide(
                    Transaction(operations: removals), of: session, at: now)
            else { throw HarnessLimitation("nothing was to be removed") }
            #expect(!commit.changed)
            // The store is nearly full: its size after the commit counts.
            let full = state(limits: Limits(storeByteCount: idle.byteCount), keys: keys)
            #expect(throws: SharedCoreError.self) {
                try full.checkLimits(of: Transaction(operations: removals + [.put("more", [1], .persistent)]))
            }
        }
        #expect(time < .seconds(60))
    }
}
