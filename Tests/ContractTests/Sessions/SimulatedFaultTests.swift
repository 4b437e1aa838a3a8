internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import TestSupport
internal import Testing

/// In memory, the death and the stop of a process are simulated, so that what is built above can be tested without
/// processes. They keep the rules of the real ones.
@Suite("L1, S12, S15, N9: simulated deaths and stops in memory", .timeLimit(.minutes(10)))
struct SimulatedFaultTests {
    @Test("L1, S12, W4: a killed participant's session ends for all; nothing more of it takes effect")
    func killedParticipants() async throws {
        let space = MemorySpace()
        let victim = try await space.open("group")
        let witness = try await space.open("group")
        let recorder = try await WatchRecorder(witness)
        try await victim.put("mine/a", [1], lifetime: .session)
        try await victim.put("mine/b", [1], lifetime: .session)
        try await victim.put("kept", [1])
        let numbered = Transaction(operations: [.post("count", state: nil)], requestNumber: 1)
        _ = try await victim.commit(numbered)
        let watch = try await victim.watch(.all, from: .now)
        let observation = try await victim.observe("news")
        let waiting = Task { try await code { try await watch.next() } }
        let idle = Task { try await code { try await observation.next() } }

        victim.simulateKill()
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await victim.get("kept") }, { _ = try await victim.list() },
            { _ = try await victim.put("kept", [2]) },
            { _ = try await victim.commit(numbered) }, { _ = try await victim.watch() },
            { _ = try await victim.observe("news") },
            { _ = try await victim.post("news") }, { try await victim.sync() }, { _ = try await victim.sessions() },
            { _ = try await victim.state(of: "news") },
        ]
        for (number, call) in calls.enumerated() {
            #expect(try await code(of: call) == .sessionEnded, "call \(number)")
        }
        #expect(try await within(Patience.usual, "the watch ends") { try await waiting.value } == .sessionEnded)
        #expect(try await within(Patience.usual, "the observation ends") { try await idle.value } == .sessionEnded)

        #expect(try await witness.sessions().map(\.id) == [witness.session.id])
        #expect(try await witness.list().entries.map(\.key) == ["kept"])
        #expect(try await witness.state(of: "count").count == 1)
        try await recorder.reaches(try await witness.list().revision)
        #expect(recorder.mirror.changes.suffix(2).map(\.kind) == [.sessionEnded, .sessionEnded])
        #expect(recorder.mirror.breaches == [])
    }

    @Test("S15, N9: a stopped participant holds up nobody, and sees the last state when it continues")
    func stoppedParticipants() async throws {
        let space = MemorySpace()
        let stopped = try await space.open("group")
        let other = try await space.open("group")
        let recorder = try await WatchRecorder(stopped)
        let observer = ObservationRecorder(try await stopped.observe("news"))
        stopped.simulateStop()
        let call = Task { try await stopped.put("mine", [1]) }

        var last = Revision.zero
        for round in 0..<200 as Range<UInt64> {
            last = try await other.put("k", [UInt8(round)]).revision
            try await other.post("news", state: round)
        }
        #expect(observer.count == 0)
        #expect(recorder.mirror.changes.isEmpty)
        #expect(try await other.get("mine") == nil)
        #expect(try await other.sessions().count == 2, "it is stopped, not dead")

        stopped.simulateContinue()
        let own = try await within(Patience.usual, "the stopped call ends") { try await call.value }
        #expect(own.revision > last)
        try await observer.reaches(200)
        #expect(observer.deliveries.last?.state == 199)
        try await recorder.reaches(own.revision)
        #expect(recorder.mirror.changedRevisions.count == 201)
        #expect(recorder.mirror.breaches == [])
    }

    @Test("L3: a participant that is killed while it is stopped does nothing any more")
    func killedWhileStopped() async throws {
        let space = MemorySpace()
        let victim = try await space.open("group")
        let witness = try await space.open("group")
        victim.simulateStop()
        let call = Task { try await code { try await victim.put("mine", [1]) } }
        let closing = Task { await victim.close() }
        victim.simulateKill()
        let outcome = try await within(Patience.usual, "the call of the dead ends") { try await call.value }
        #expect(outcome == .sessionEnded || outcome == .closed)
        try await within(Patience.usual, "the closing of the dead ends") { await closing.value }
        #expect(try await witness.get("mine") == nil)
        #expect(try await witness.sessions().map(\.id) == [witness.session.id])
    }
}
