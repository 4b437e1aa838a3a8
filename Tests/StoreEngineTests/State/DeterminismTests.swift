internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("One order, one state")
struct DeterminismTests {
    @Test("The same effects in the same order give the same state", arguments: Seed.several(12))
    func sameEffectsSameState(seed: Seed) throws {
        var machine = RandomMachine(seed: seed)
        machine.run(800)
        var replica = StoreState(limits: RandomMachine.limits, historyByteCount: 1 << 20)
        for effect in machine.effects { replica.apply(effect) }
        #expect(try replica.fingerprint() == machine.state.fingerprint())
        #expect(replica.byteCount == machine.state.byteCount)
        #expect(replica.revision == machine.state.revision)
    }

    @Test("Effects that went through the journal give the same state", arguments: Seed.several(12))
    func journalKeepsTheState(seed: Seed) throws {
        var machine = RandomMachine(seed: seed)
        machine.run(800)
        let content = JournalContent(try machine.effects.journal(salt: seed.rawValue), salt: seed.rawValue)
        #expect(content.end == nil)
        var replica = StoreState(limits: RandomMachine.limits, historyByteCount: 1 << 20)
        for effect in try content.effects() { replica.apply(effect) }
        #expect(try replica.fingerprint() == machine.state.fingerprint())
    }

    @Test("A snapshot at any point and the effects after it give the same state", arguments: Seed.several(6))
    func snapshotAndRest(seed: Seed) throws {
        var machine = RandomMachine(seed: seed)
        machine.run(500)
        let final = try machine.state.fingerprint()
        var state = StoreState(limits: RandomMachine.limits, historyByteCount: 1 << 20)
        for (index, effect) in machine.effects.enumerated() {
            if index.isMultiple(of: 23) {
                let snapshot = try state.fingerprint()
                var restored = try #require(try StoreState.restored(from: snapshot))
                #expect(try restored.fingerprint() == snapshot)
                #expect(restored.byteCount == state.byteCount)
                let (next, expected) = (restored.nextExpiry(), state.nextExpiry())
                #expect(next == expected)
                for later in machine.effects[index...] { restored.apply(later) }
                #expect(try restored.fingerprint() == final)
            }
            state.apply(effect)
        }
    }

    @Test("A state that leaves large values where they lie is the same state", arguments: Seed.several(4))
    func externalValuesAreTheSame(seed: Seed) throws {
        var machine = RandomMachine(seed: seed)
        machine.run(500)
        let journal = try machine.effects.journal(salt: 9)
        let source = BytesSource(journal)
        let content = JournalContent(journal, salt: 9)
        var replica = StoreState(limits: RandomMachine.limits, historyByteCount: 1 << 20)
        var externalCount = 0
        for payload in content.payloads {
            let external = ExternalValues(source: source, offset: UInt64(payload.startIndex), threshold: 40)
            guard case .effect(let effect) = try JournalRecord(payload, external: external) else { continue }
            if case .committed(_, _, let operations) = effect.body {
                for case .put(_, .external, _) in operations { externalCount += 1 }
            }
            replica.apply(effect)
        }
        #expect(externalCount > 0)
        #expect(try replica.fingerprint() == machine.state.fingerprint())
        #expect(replica.byteCount == machine.state.byteCount)
    }
}
