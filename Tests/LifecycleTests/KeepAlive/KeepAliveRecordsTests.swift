import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Lifecycle
import TestSupport
import Testing

/// The records of keep-alives in the group.
struct KeepAliveRecordsTests {
    @Test("P4: a keep-alive that saves into the group goes on in the next process where the former one was killed")
    func goesOn() async throws {
        let space = MemorySpace()
        let first = try await space.open("group", as: SessionDescription(role: .main, name: "first"))
        let clock = ManualClock()
        let keepAlive = try KeepAlive(clock: clock, save: KeepAliveRecords(first).saving(as: "main"))
        try await keepAlive.add("registration", every: .seconds(600), handler: Idle())
        try await keepAlive.registered("sip:zoe", for: .seconds(3600))
        let expected = await keepAlive.record
        try await eventually("the last record is kept") {
            try await KeepAliveRecords(first).record(of: "main") == expected
        }
        await keepAlive.close()
        await first.close()

        let second = try await space.open("group", as: SessionDescription(role: .main, name: "second"))
        #expect(try await KeepAliveRecords(second).all() == ["main": expected])
        let record = try await KeepAliveRecords(second).record(of: "main")
        let next = try KeepAlive(restoring: record, clock: clock)
        try await next.add("registration", every: .seconds(600), handler: Idle())
        #expect(await next.record == expected)
        await next.close()
        await second.close()
    }

    @Test("E2: what nobody understands is as good as nothing")
    func foreign() async throws {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main, name: "one"))
        try await group.put(".sharedcore/keep-alives/main", [0xff])
        #expect(try await KeepAliveRecords(group).record(of: "main") == nil)
        #expect(try await KeepAliveRecords(group).all().isEmpty)
        await group.close()
    }

    private struct Idle: KeepAliveHandler {
        func keepAlive(_ run: KeepAliveRun) async throws {}
    }
}
