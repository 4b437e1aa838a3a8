internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("S11, E2: records are not trusted")
struct RecordTests {
    @Test("Every effect that is written is read back as it was", arguments: Seed.several(8))
    func effectsComeBack(seed: Seed) throws {
        var machine = RandomMachine(seed: seed)
        machine.run(400)
        for effect in machine.effects {
            let payload = try effect.payload()
            guard case .effect(let read) = try JournalRecord(payload[...]) else {
                Issue.record("an effect was read as a part of a snapshot")
                return
            }
            #expect(try read.payload() == payload)
            #expect(read.revision == effect.revision)
            #expect(read.time == effect.time)
        }
    }

    @Test("S11: every truncation and every appended byte of a record is `corrupt`", arguments: Seed.several(4))
    func truncationsAreCorrupt(seed: Seed) throws {
        var machine = RandomMachine(seed: seed)
        machine.run(60)
        for payload in try machine.effects.map({ try $0.payload() }) + machine.state.fingerprint() {
            for count in 0..<payload.count {
                let error = #expect(throws: SharedCoreError.self) { try JournalRecord(payload[..<count]) }
                #expect(error?.code == .corrupt)
            }
            #expect(throws: SharedCoreError.self) { try JournalRecord((payload + [0])[...]) }
        }
    }

    @Test(
        "S11, E2: changed and random records are read or `corrupt`; a state takes what was read without a trap",
        arguments: Seed.several(8))
    func hostileRecordsDoNotTrap(seed: Seed) throws {
        var random = SeededRandom(seed)
        var machine = RandomMachine(seed: seed)
        machine.run(60)
        let payloads = try machine.effects.map { try $0.payload() } + machine.state.fingerprint()
        var state = StoreState(limits: RandomMachine.limits, historyByteCount: 10_000)
        var reader = SnapshotReader(limits: RandomMachine.limits, historyByteCount: 10_000)
        var (readCount, refusedCount) = (0, 0)
        for _ in 0..<6_000 {
            var payload = payloads[Int.random(in: 0..<payloads.count, using: &random)]
            if random.once(in: 10) {
                payload =
                    [UInt8.random(in: 0...7, using: &random)] + random.bytes(Int.random(in: 0...80, using: &random))
            } else {
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    payload[Int.random(in: 0..<payload.count, using: &random)] = UInt8(
                        truncatingIfNeeded: random.next())
                }
            }
            do throws(SharedCoreError) {
                switch try JournalRecord(payload[...]) {
                case .effect(let effect): state.apply(effect)
                case .snapshot(let part): try reader.read(part)
                }
                readCount += 1
            } catch {
                #expect(error.code == .corrupt)
                refusedCount += 1
            }
            exercise(&state)
            if var restored = reader.result {
                exercise(&restored)
                reader = SnapshotReader(limits: RandomMachine.limits, historyByteCount: 10_000)
            }
        }
        #expect(readCount > 100)
        #expect(refusedCount > 100)
    }

    /// Asks a state for everything that a backend reads from it.
    private func exercise(_ state: inout StoreState) {
        _ = state.nextExpiry()
        _ = state.selection([.all, "a"])
        _ = state.opening(
            SessionOpening(
                process: ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 1, startTime: 0),
                description: SessionDescription()), at: BootInstant(nanoseconds: .max))
        for session in state.sessions.keys {
            _ = try? state.decide(
                Transaction(operations: [.put("k", [1], .persistent)]), of: session, at: BootInstant(nanoseconds: 1))
            _ = state.ending(session, at: BootInstant(nanoseconds: 1))
        }
        var cursor = WatchCursor(prefixes: [.all], start: .after(.zero), in: state)
        _ = cursor.next(in: &state)
    }

    @Test("S11, E2: numbers at the end of their range do not trap")
    func extremeNumbersDoNotTrap() throws {
        for revision in [UInt64.max, UInt64.max - 1, UInt64.max - (1 << 32), 1 << 63] {
            for body: Effect.Body in [
                .expired([]), .sessionEnded(SessionID(rawValue: .max)), .restarted(BootID(high: 0, low: 0)),
            ] {
                let effect = Effect(
                    revision: Revision(rawValue: revision), time: BootInstant(nanoseconds: .max), body: body)
                guard let record = try? JournalRecord(try effect.payload()[...]), case .effect(let read) = record else {
                    continue
                }
                var state = StoreState()
                state.apply(read)
                exercise(&state)
                _ = state.restarting(in: BootID(high: 1, low: 1), at: BootInstant(nanoseconds: .max))
            }
        }
    }

    @Test("S11: a record that announces more than it holds costs no memory")
    func announcementsCostNothing() async throws {
        // The process is shared with the tests that run beside this one. A leak of a record shows in each batch.
        let growth = try await OwnResources.leastGrowth(batches: 10) {
            for tag in 0...8 as ClosedRange<UInt8> {
                for kind in 0...8 as ClosedRange<UInt8> {
                    // Revision, time, kind, then counts that claim the most that ten bytes can say.
                    let claim = [UInt8](repeating: 0xff, count: 9) + [0x01]
                    for payload in [
                        [tag, 1, 1, kind] + claim + claim, [tag] + claim, [tag, 1, 1, kind, 1, 0] + claim,
                    ] {
                        _ = try? JournalRecord(payload[...])
                    }
                }
            }
        }
        #expect(growth < 8 << 20)
    }

    @Test("S11: parts of a snapshot out of their order are `corrupt`")
    func misplacedPartsAreCorrupt() throws {
        var machine = RandomMachine(seed: Seed(rawValue: 3))
        machine.run(200)
        let payloads = try machine.state.fingerprint()
        #expect(try StoreState.restored(from: Array(payloads.dropLast())) == nil, "a snapshot without its end is none")
        for wrong in [
            Array(payloads.dropFirst()), [payloads[0]] + payloads, payloads + [payloads[0]], payloads.reversed(),
        ] {
            #expect(throws: SharedCoreError.self) { try StoreState.restored(from: wrong) }
        }
        let entries = try #require(payloads.first { $0.first == 3 })
        let doubled = Array(payloads.dropLast()) + [entries] + payloads.suffix(1)
        #expect(throws: SharedCoreError.self) { try StoreState.restored(from: doubled) }
    }
}
