import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

/// A Main that comes to rest over a store that is slower than its watches.
@Suite(.serialized)
struct RestRaceScenarios {
    /// A store in which the commit of an offer returns only after the holder has refused the offer.
    ///
    /// Commits can return that late if they are durable on a disk, or confirmed by a server.
    private struct LateAnswers: ForwardingStore {
        let inner: any SharedStore

        func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
            let commit = try await inner.commit(transaction)
            let isOffer = transaction.operations.contains {
                if case .put(OwnershipKey.rest, _, _) = $0 { true } else { false }
            }
            guard isOffer else { return commit }
            // Until the holder has refused the offer.
            let watch = try await inner.watch([KeyPrefix(OwnershipKey.rest)], from: .snapshot)
            defer { watch.cancel() }
            while let event = try await watch.next() {
                switch event {
                case .snapshot(let snapshot), .lagged(let snapshot):
                    if snapshot.entries.isEmpty { return commit }
                case .changes(let changes):
                    if changes.changes.contains(where: { $0.new == nil }) { return commit }
                }
            }
            return commit
        }
    }

    @Test("C26: an offer that is refused before its commit returns ends the attempt, and the core goes on")
    func refusedBeforeTheCommitReturns() async throws {
        let world = World()
        let holder = try await world.holder()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .main, name: "main"), process: process.identity)
        let calls = Box<[String]>([])
        var script = ScriptedCore.Script()
        script.onRest = { _ in calls.update { $0.append("rest") } }
        script.onResume = { _, _ in calls.update { $0.append("resume") } }
        let main = try MainParticipant(
            of: LateAnswers(inner: group), options: world.options,
            environment: CoordinationEnvironment(clock: world.clock, processes: world.processes, seed: 3, push: nil)
        ) { [script] in
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: script)
        }
        try await main.start()
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the call waits") { try await world.waitingCount() == 1 }
        let error = await #expect(throws: CoordinationError.self) { try await main.rest() }
        #expect(error?.code == .refused)
        #expect(calls.value == ["rest", "resume"])
        world.server.receive(try .text("call-1"))
        #expect(try await wait.value.source == .inbox)
        #expect(try await world.report().report.isClean)
        await main.stop()
        await holder.participant.stop()
    }

    @Test("C26: a Main that is resumed while its core becomes quiet does not rest, and its core goes on")
    func resumedBeforeQuiet() async throws {
        let world = World()
        let holder = try await world.holder()
        let calls = Box<[String]>([])
        let quiet = Promise<Void>()
        var script = ScriptedCore.Script()
        script.onRest = { _ in
            calls.update { $0.append("rest") }
            await quiet.pass()
        }
        script.onResume = { _, wake in calls.update { $0.append("resume for \(wake)") } }
        let main = try await world.main(script: script)
        try await main.participant.start()
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        let rest = Task { try await main.participant.rest() }
        try await eventually("the core becomes quiet") { calls.value == ["rest"] }
        let hasResumed = Box(false)
        let resume = Task {
            try await main.participant.resume(for: .keepAlive)
            hasResumed.update { $0 = true }
        }
        try await eventually("the resume waits") { await main.participant.participant.isResumedEarly }
        #expect(!hasResumed.value)
        quiet.open()

        let error = await #expect(throws: CoordinationError.self) { try await rest.value }
        #expect(error?.code == .refused)
        try await withTimeout(TestTimeout.usual, "it has resumed") { try await resume.value }
        #expect(calls.value == ["rest", "resume for \(Wake.keepAlive)"])
        #expect(await !main.participant.isAtRest)
        // The refused rest has left nothing behind: the next rest succeeds.
        try await main.participant.rest()
        #expect(await main.participant.isAtRest)
        try await main.participant.resume()
        await main.participant.stop()
        await holder.participant.stop()
    }

    @Test("C26: a rest does not begin while the core still becomes quiet for another, or is told to go on")
    func oneRestAtATime() async throws {
        let world = World()
        let holder = try await world.holder()
        let calls = Box<[String]>([])
        let (quiet, loud) = (Promise<Void>(), Promise<Void>())
        var script = ScriptedCore.Script()
        script.onRest = { _ in
            calls.update { $0.append("rest") }
            // The core ignores cancellation.
            await quiet.pass()
            calls.update { $0.append("quiet") }
        }
        script.onResume = { _, _ in
            calls.update { $0.append("resume") }
            await loud.pass()
            calls.update { $0.append("loud") }
        }
        let main = try await world.main(script: script)
        try await main.participant.start()
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        /// Asks for a rest and returns the code of its refusal; nil without one, also if the core was called and does
        /// not answer.
        func rest(beside expected: [String]) async throws -> CoordinationError.Code? {
            let code = Box<CoordinationError.Code?>(nil)
            let task = Task {
                do throws(CoordinationError) {
                    try await main.participant.rest()
                } catch {
                    code.update { $0 = error.code }
                }
            }
            try await eventually("the rest is refused, or begins") { code.value != nil || calls.value != expected }
            task.cancel()
            return code.value
        }
        let first = Task { try await main.participant.rest() }
        try await eventually("the core becomes quiet") { calls.value == ["rest"] }
        first.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await first.value }
        #expect(error?.code == .cancelled)

        // Otherwise the resume of the first rest would reach the core during the second.
        #expect(try await rest(beside: ["rest"]) == .refused)
        quiet.open()
        try await eventually("the core is told to go on") { calls.value == ["rest", "quiet", "resume"] }
        #expect(try await rest(beside: ["rest", "quiet", "resume"]) == .refused)
        loud.open()
        try await eventually("Main rests") {
            do throws(CoordinationError) {
                try await main.participant.rest()
                return true
            } catch {
                return false
            }
        }
        #expect(calls.value == ["rest", "quiet", "resume", "loud", "rest", "quiet"])
        #expect(await main.participant.isAtRest)
        #expect(try await world.report().report.isClean)
        await main.participant.stop()
        await holder.participant.stop()
    }

    @Test("C26: a core that was quiet too late and cannot go on has failed: another one is started")
    func cannotGoOnAfterALateRest() async throws {
        let world = World()
        let holder = try await world.holder()
        let calls = Box<[String]>([])
        let quiet = Promise<Void>()
        var script = ScriptedCore.Script()
        script.onRest = { _ in
            calls.update { $0.append("rest") }
            await quiet.pass()
        }
        script.onResume = { _, _ in throw ScriptedCore.CoreFailure(description: "no connection") }
        let main = try await world.main(script: script)
        try await main.participant.start()
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        let rest = Task { try await main.participant.rest() }
        try await eventually("the core becomes quiet") { calls.value == ["rest"] }
        rest.cancel()
        _ = await rest.result
        quiet.open()
        try await eventually("another core is started") { await main.participant.coreStarts == 2 }
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(entries.contains { $0.reason.contains("its core did not resume: no connection") })
        await main.participant.stop()
        await holder.participant.stop()
    }

    @Test("C26: the program of a holder is told of each wake once: by the holder, and by a participant that needs Main")
    func toldOfWakes() async throws {
        let world = World()
        let told = Box<[ProcessIdentity]>([])
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .tool, name: "holder"), process: world.processes.start().identity)
        let holder = try HolderParticipant(
            of: group, options: world.options,
            environment: CoordinationEnvironment(clock: world.clock, processes: world.processes, seed: 5, push: nil)
        ) { main in told.update { $0.append(main) } }
        try await holder.start()
        var script = ScriptedCore.Script()
        script.onRest = { _ in }
        script.onResume = { _, _ in }
        let main = try await world.main(script: script)
        try await main.participant.start()
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        try await main.participant.rest()
        await holder.wakeMain(for: .push)
        try await eventually("the wake is told") { told.value == [main.process.identity] }

        try await main.participant.rest()
        let second = try await world.main("second")
        let error = await #expect(throws: CoordinationError.self) { try await second.participant.start() }
        #expect(error?.code == .refused)
        try await eventually("the second wake is told") { told.value.count == 2 }

        try await main.participant.rest()
        try await main.participant.resume()
        #expect(told.value.count == 2, "a Main that resumes by itself was not woken")
        await main.participant.stop()
        await holder.stop()
        try await holder.waitUntilEnded()
    }

    @Test("C26: a holder whose handle is closed says so")
    func endedByTheStore() async throws {
        let world = World()
        let group = try await world.space.open("group", as: SessionDescription(role: .tool, name: "holder"))
        let holder = try HolderParticipant(
            of: group, options: world.options,
            environment: CoordinationEnvironment(clock: world.clock, processes: world.processes, seed: 5, push: nil))
        try await holder.start()
        let waiting = Task { try await holder.waitUntilEnded() }
        await group.close()
        let error = await #expect(throws: CoordinationError.self) { try await waiting.value }
        #expect(error?.code == .store)
    }
}
