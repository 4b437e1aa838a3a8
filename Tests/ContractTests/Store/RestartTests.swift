internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite(
    "S3, S8, S10, L1: what is kept when everybody leaves, and when the machine starts again", .timeLimit(.minutes(10)))
struct RestartTests {
    @Test("S3, S10: the store is as it was, without the sessions and what lived with them", arguments: Backend.durable)
    func everybodyLeaves(backend: Backend) async throws {
        try await backend.withGroup { group in
            var last = Revision.zero
            var seen: Set<SessionID> = []
            for round in 0..<5 as Range<UInt64> {
                let store = try await group.open()
                #expect(store.session.id.rawValue > last.rawValue)
                let isNew = seen.insert(store.session.id).inserted
                #expect(isNew)
                #expect(try await store.sessions().map(\.id) == [store.session.id])
                #expect(try await store.list().entries.map(\.value) == (0..<round).map { [UInt8($0)] })
                #expect(try await store.state(of: "news").count == round)
                try await store.put(Key("kept/\(round)"), [UInt8(round)])
                try await store.put("mine", [1], lifetime: .session)
                last = try await store.post("news", state: round)
                await group.closeAll()
            }
        }
    }

    @Test(
        "S8, L1: after a start of the machine nobody of before lives, and what expires has one full duration at most",
        arguments: Backend.durable)
    func machineStartsAgain(backend: Backend) async throws {
        let clock = ManualClock()
        try await backend.withGroup(Backend.Settings(clock: clock)) { group in
            let store = try await group.open()
            try await store.put("kept", [1])
            try await store.put("expiring", [1], lifetime: .expiring(after: .seconds(60)))
            let last = try await store.put("mine", [1], lifetime: .session).revision
            let old = store.session
            clock.advance(by: .seconds(50))
            await group.closeAll()

            clock.reboot()
            let reborn = try await group.open()
            #expect(reborn.session.id.rawValue > last.rawValue)
            #expect(reborn.session.id != old.id)
            #expect(try await reborn.sessions().map(\.id) == [reborn.session.id])
            #expect(try await reborn.list().entries.map(\.key) == ["expiring", "kept"])
            clock.advance(by: .seconds(60))
            #expect(try await reborn.list().entries.map(\.key) == ["kept"])
            #expect(try await reborn.put("kept", [2]).revision > last)
        }
    }

    @Test("S8: what was due while nobody had the group open is gone for whoever opens it", arguments: Backend.durable)
    func dueWhileNobodyLooked(backend: Backend) async throws {
        let clock = ManualClock()
        try await backend.withGroup(Backend.Settings(clock: clock)) { group in
            try await group.open().put("k", [1], lifetime: .expiring(after: .seconds(60)))
            await group.closeAll()
            clock.advance(by: .seconds(59))
            #expect(try await group.open().get("k") != nil)
            await group.closeAll()
            clock.advance(by: .seconds(1))
            let store = try await group.open()
            #expect(try await store.get("k", consistency: .causal) == nil)
            #expect(try await store.list().entries == [])
        }
    }
}
