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

    @Test("P4: a wait for the writer's end has lost no record, and nothing comes back that is removed after it")
    func lastRecord() async throws {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main, name: "one"))
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let records = KeepAliveRecords(
            InterposedStore(group, once: { () throws(SharedCoreError) in for await _ in gate {} }))
        let writer = records.writer(as: "main")
        let keepAlive = try KeepAlive(clock: ManualClock(), save: { writer.save($0) })
        try await keepAlive.add("registration", every: .seconds(600), handler: Idle())
        try await keepAlive.registered("sip:zoe", for: .seconds(3600))
        let expected = await keepAlive.record
        await keepAlive.close()
        Task { opening.finish() }
        try await writer.finish()
        #expect(try await KeepAliveRecords(group).all() == ["main": expected])

        try await records.remove("main")
        #expect(try await KeepAliveRecords(group).all().isEmpty)
        try await records.remove("main")
        await group.close()
    }

    @Test("P4: the writer's end tells why the last record is not kept")
    func lastRecordFails() async throws {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main, name: "one"))
        let writer = KeepAliveRecords(group).writer(as: "main")
        let keepAlive = try KeepAlive(clock: ManualClock(), save: { writer.save($0) })
        await group.close()
        try await keepAlive.add("registration", every: .seconds(600), handler: Idle())
        await keepAlive.close()
        let error = await #expect(throws: SharedCoreError.self) { try await writer.finish() }
        #expect(error?.code == .closed)
    }

    @Test("E2: a record that cannot be decoded counts as absent")
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
