import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// A participant of a store that permanently refuses its commits.
@Suite(.serialized)
struct StoreTroubleScenarios {
    /// True while the store refuses commits as if its disk were full.
    private let isFull = Box(false)

    /// True while the store refuses commits as a hub does for a client without the right to write.
    private let isForbidden = Box(false)

    private func store(_ group: MemoryGroup) -> InterposedStore {
        InterposedStore(group) { [isFull, isForbidden] transaction throws(SharedCoreError) in
            if isForbidden.value { throw SharedCoreError(.forbidden, "This key may only read.", at: "test") }
            if isFull.value { throw SharedCoreError(.storageFull, "There is no space.", at: "test") }
            return transaction
        }
    }

    private var options: CoordinationOptions {
        var options = CoordinationOptions.patient
        options.handoverTimeout = .milliseconds(300)
        options.stopTimeout = .milliseconds(300)
        return options
    }

    @Test("E1, S10: a Main that the store lets not own for longer than a hand-over may take throws the store's error")
    func startThrows() async throws {
        let world = World()
        let process = world.processes.start()
        let group = try await world.space.open("group", as: SessionDescription(role: .main), process: process.identity)
        let main = try MainParticipant(of: store(group), options: options) { ScriptedCore.idle(in: world) }
        isFull.update { $0 = true }

        let error = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the start ends") { try await main.start() }
        }

        #expect(error?.code == .store)
        #expect(error?.cause?.code == .storageFull)
        // The refused calls have left nothing behind, and with space the next one works.
        isFull.update { $0 = false }
        try await main.start()
        #expect(try await world.owner()?.role == .main)
        await main.stop()
    }

    @Test("E1: an Executor that the store forbids to own throws the store's error instead of waiting for good")
    func forbiddenStartThrows() async throws {
        let world = World()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor), process: process.identity)
        let executor = try ExecutorParticipant(of: store(group), options: options) { ScriptedCore.idle(in: world) }
        isForbidden.update { $0 = true }

        let error = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the start ends") { try await executor.start() }
        }

        #expect(error?.code == .store)
        #expect(error?.cause?.code == .forbidden)
        // With the right to write it works.
        isForbidden.update { $0 = false }
        try await executor.start()
        #expect(try await world.owner()?.role == .executor)
        await executor.close()
    }

    @Test("S10: a participant that cannot release ends after the bound, and ownership ends with its session")
    func closeEnds() async throws {
        let world = World()
        let process = world.processes.start()
        let group = try await world.space.open("group", as: SessionDescription(role: .main), process: process.identity)
        let main = try MainParticipant(of: store(group), options: options) { ScriptedCore.idle(in: world) }
        try await main.start()
        isFull.update { $0 = true }

        try await withTimeout(TestTimeout.usual, "it stops") { await main.stop() }

        #expect(try await world.owner()?.role == .main)
        await group.close()
        #expect(try await world.owner() == nil)
    }

    @Test("S10: finish() of an Executor that cannot release returns after the bound")
    func finishEnds() async throws {
        let world = World()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor), process: process.identity)
        let script = ScriptedCore.Script()
        let executor = try ExecutorParticipant(of: store(group), options: options) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: script)
        }
        world.server.receive(try .text("call-1"))
        let answer = try await executor.message(forCallID: .of("call-1"), timeout: .seconds(30))
        #expect(answer.message != nil)
        isFull.update { $0 = true }

        try await withTimeout(TestTimeout.usual, "it finishes") { await executor.finish() }

        try await eventually("its core has stopped") { world.gauge.running.isEmpty }
        try await withTimeout(TestTimeout.usual, "it closes") { await executor.close() }
    }
}
