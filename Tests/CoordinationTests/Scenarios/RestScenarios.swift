import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// A Main that sleeps stays the owner, by the holder that owns for it.
@Suite(.serialized)
struct RestScenarios {
    /// Bounds short enough for a test that waits for them to pass.
    private static var brisk: CoordinationOptions {
        var options = CoordinationOptions.patient
        options.answerBound = .milliseconds(500)
        options.wakeBound = .seconds(1)
        return options
    }

    /// The calls of a core that can rest.
    private final class Quiet: Sendable {
        let calls = Box<[String]>([])

        var script: ScriptedCore.Script {
            var script = ScriptedCore.Script()
            script.onRest = { [calls] _ in calls.update { $0.append("rest") } }
            script.onResume = { [calls] _, wake in calls.update { $0.append("resume \(wake)") } }
            script.onStop = { [calls] request in calls.update { $0.append("stop \(request.reason)") } }
            return script
        }
    }

    /// Lets a Main rest; the code of its refusal, or nil.
    private func code(of main: MainParticipant) async -> CoordinationError.Code? {
        do throws(CoordinationError) {
            try await main.rest()
            return nil
        } catch {
            return error.code
        }
    }

    /// A Main at rest, with its holder.
    private func resting(
        in world: World, _ quiet: Quiet
    ) async throws -> (
        main: TestParticipant<MainParticipant>, holder: TestParticipant<HolderParticipant>, epoch: Revision
    ) {
        let holder = try await world.holder()
        let main = try await world.main(script: quiet.script)
        try await main.participant.start()
        let epoch = try #require(await main.participant.epoch)
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        // Under a short bound a slow machine's holder may be too late to take the ownership: the rest is refused, and asked for again.
        try await eventually("Main comes to rest") {
            quiet.calls.update { $0.removeAll { $0 == "rest" || $0.hasPrefix("resume") } }
            return await code(of: main.participant) == nil
        }
        return (main, holder, epoch)
    }

    @Test("C26: a Main that rests stays the owner under its epoch, and a call wakes it; its core starts once")
    func callWakes() async throws {
        let world = World()
        let quiet = Quiet()
        let (main, holder, epoch) = try await resting(in: world, quiet)
        let owner = try #require(try await world.owner())
        #expect(owner.epoch == epoch)
        #expect(owner.session == holder.group.session.id)
        #expect(owner.process == holder.process.identity)
        #expect(owner.role == .main && owner.name == "main" && owner.state == .running)
        #expect(await main.participant.isAtRest)
        #expect(quiet.calls.value == ["rest"])

        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("Main has resumed") { await !main.participant.isAtRest }
        world.server.receive(try .text("call-1"))

        #expect(try await wait.value.source == .inbox)
        #expect(await main.participant.epoch == epoch)
        #expect(await main.participant.coreStarts == 1)
        #expect(await executor.participant.coreStarts == 0)
        try await eventually("the core has gone on") { quiet.calls.value == ["rest", "resume call"] }
        #expect(try await world.owner()?.session == main.group.session.id)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(
            entries.map(\.kind).filter { [.rested, .woken, .resumed].contains($0) } == [.rested, .woken, .resumed])
    }

    @Test("C26: a Main without a holder, or with a core that cannot be quiet, does not rest")
    func cannotRest() async throws {
        let world = World()
        let quiet = Quiet()
        let main = try await world.main(script: quiet.script)
        try await main.participant.start()
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        let alone = await #expect(throws: CoordinationError.self) { try await main.participant.rest() }
        #expect(alone?.code == .unavailable)
        #expect(quiet.calls.value == [])

        let holder = try await world.holder()
        await main.participant.stop()
        let loud = try await world.main("loud")
        try await loud.participant.start()
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        let unsupported = await #expect(throws: CoordinationError.self) { try await loud.participant.rest() }
        #expect(unsupported?.code == .unsupported)
        #expect(try await world.owner()?.session == loud.group.session.id)
        await holder.participant.stop()
    }

    @Test("C26, C17: a Main does not rest while an activity is open or a call waits; its core continues")
    func hasReasonsToBeAwake() async throws {
        let world = World()
        let quiet = Quiet()
        let context = Box<CoreContext?>(nil)
        var script = quiet.script
        script.onStart = { started in context.update { $0 = started } }
        let holder = try await world.holder()
        let main = try await world.main(script: script)
        try await main.participant.start()
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        let activity = try await #require(context.value).begin(.call, id: "1")
        try await eventually("the activity refuses the rest") {
            await code(of: main.participant) == .refused
        }
        try await activity.end()

        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the call waits") { try await world.waitingCount() == 1 }
        await #expect(throws: CoordinationError.self) { try await main.participant.rest() }
        try await eventually("the core goes on") { quiet.calls.value.last.map { $0.hasPrefix("resume") } ?? true }
        #expect(try await world.owner()?.session == main.group.session.id)
        world.server.receive(try .text("call-1"))
        _ = try await wait.value

        try await eventually("Main comes to rest when nothing is in the way") {
            await code(of: main.participant) == nil
        }
        #expect(await holder.participant.isHolding)
        #expect(try await world.report().report.isClean)
    }

    @Test("C26: the core of a Main at rest that is stopped is given up when a call needs it; it stops when it goes on")
    func frozenAtRest() async throws {
        let world = World(options: Self.brisk)
        let quiet = Quiet()
        let (main, _, epoch) = try await resting(in: world, quiet)
        main.process.freeze()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.role == .executor }
        world.server.receive(try .text("call-1"))
        #expect(try await wait.value.source == .core)

        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        let woken = try #require(entries.first { $0.kind == .woken })
        let givenUp = try #require(entries.first { $0.kind == .coreGivenUp })
        #expect(givenUp.epoch == epoch)
        #expect(woken.at.duration(to: givenUp.at) >= .seconds(1))
        #expect(givenUp.reason == "Main did not resume within 1.0 seconds")
        #expect(!entries.contains { $0.kind == .killed })
        main.process.thaw()
        try await eventually("Main's core has stopped") { quiet.calls.value.contains("stop superseded") }
        #expect(!quiet.calls.value.contains { $0.hasPrefix("resume") })
        await executor.participant.close()
        try await eventually("Main owns anew") { try await world.owner()?.role == .main }
        #expect(try await world.report().report.isClean)
    }

    @Test("C26: if a Main is killed at rest, its holder releases the ownership at once")
    func killedAtRest() async throws {
        let world = World()
        let (main, holder, epoch) = try await resting(in: world, Quiet())
        main.process.kill()
        try await eventually("the holder has released") { await !holder.participant.isHolding }
        #expect(try await world.owner() == nil)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        let released = try #require(entries.last { $0.kind == .released })
        #expect(released.epoch == epoch)
        #expect(released.reason == "Main ended while it rested")
        let next = try await world.main("next")
        try await next.participant.start()
        #expect(try await world.report().report.isClean)
    }

    @Test("C26: a Main whose holder is killed acquires again: its quiet core stops before the next one starts")
    func holderKilled() async throws {
        let world = World()
        let quiet = Quiet()
        let (main, holder, epoch) = try await resting(in: world, quiet)
        holder.process.kill()
        try await eventually("Main owns anew") {
            let owner = try await world.owner()
            return owner?.session == main.group.session.id && owner?.state == .running
        }
        #expect(try await world.owner()?.epoch != epoch)
        #expect(quiet.calls.value == ["rest", "stop superseded"])
        #expect(await main.participant.coreStarts == 2)
        #expect(world.gauge.overlaps == [])
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(report.supersededOverlaps == 0)
    }

    @Test("C26, C6: a frozen holder does not keep a call from the Main that rests")
    func holderFrozen() async throws {
        let world = World(options: Self.brisk)
        let quiet = Quiet()
        let (main, holder, epoch) = try await resting(in: world, quiet)
        holder.process.freeze()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("Main has resumed") { await !main.participant.isAtRest }
        world.server.receive(try .text("call-1"))
        #expect(try await wait.value.source == .inbox)
        #expect(await main.participant.epoch == epoch)
        holder.process.thaw()
        #expect(try await world.report().report.isClean)
    }

    @Test("C26, C6: a holder and a Main that are both frozen are superseded when both had their time")
    func bothFrozen() async throws {
        let world = World(options: Self.brisk)
        let quiet = Quiet()
        let (main, holder, _) = try await resting(in: world, quiet)
        holder.process.freeze()
        main.process.freeze()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        world.server.receive(try .text("call-1"))
        #expect(try await wait.value.source == .core)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        let woken = try #require(entries.first { $0.kind == .woken })
        let tookOver = try #require(entries.first { $0.kind == .tookOver })
        #expect(woken.at.duration(to: tookOver.at) >= .seconds(1))
        holder.process.thaw()
        main.process.thaw()
        try await eventually("Main's core has stopped") { quiet.calls.value.contains("stop superseded") }
    }

    @Test("C26: a holder that stops in order wakes Main, and ends when that has resumed")
    func holderStops() async throws {
        let world = World()
        let quiet = Quiet()
        let (main, holder, epoch) = try await resting(in: world, quiet)
        await holder.participant.stop()
        #expect(await !main.participant.isAtRest)
        #expect(await main.participant.epoch == epoch)
        #expect(try await world.observer().get(OwnershipKey.holder) == nil)
        #expect(try await world.report().report.isClean)
    }

    @Test("C26, C14: a second Main wakes the one that rests, and is refused by that one's own answer")
    func secondMainIsRefused() async throws {
        let world = World()
        let (main, _, epoch) = try await resting(in: world, Quiet())
        let second = try await world.main("second")
        let error = await #expect(throws: CoordinationError.self) { try await second.participant.start() }
        #expect(error?.code == .refused)
        #expect(await !main.participant.isAtRest)
        #expect(await main.participant.epoch == epoch)
        #expect(try await world.report().report.isClean)
    }

    @Test("C26, C14: a Main that rests hands over to one that takes over: it resumes, stops its core and releases")
    func takenOver() async throws {
        let world = World()
        let quiet = Quiet()
        let (main, _, _) = try await resting(in: world, quiet)
        let second = try await world.main("second")
        try await second.participant.start(takingOver: true)
        #expect(try await world.owner()?.session == second.group.session.id)
        #expect(await main.participant.waitUntilEnded() == .superseded)
        #expect(quiet.calls.value.last == "stop handover")
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(report.supersededOverlaps == 0)
    }

    @Test("C26: a Main resumes by itself; where the rest was over it throws")
    func resumesByItself() async throws {
        let world = World(options: Self.brisk)
        let quiet = Quiet()
        let (main, _, epoch) = try await resting(in: world, quiet)
        try await main.participant.resume(for: .data)
        #expect(quiet.calls.value == ["rest", "resume data"])
        #expect(await main.participant.epoch == epoch)
        try await main.participant.resume()
        #expect(quiet.calls.value == ["rest", "resume data"])

        try await main.participant.rest()
        main.process.freeze()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.role == .executor }
        main.process.thaw()
        let error = await #expect(throws: CoordinationError.self) { try await main.participant.resume() }
        #expect(error?.code == .fenced)
        world.server.receive(try .text("call-1"))
        _ = try await wait.value
        #expect(try await world.report().report.isClean)
    }

    @Test("C26: a Main that rests and is stopped resumes first; after it, start begins anew")
    func stopsAndStartsAnew() async throws {
        let world = World()
        let quiet = Quiet()
        let (main, _, epoch) = try await resting(in: world, quiet)
        await main.participant.stop()
        #expect(try await world.owner() == nil)
        #expect(quiet.calls.value == ["rest", "stop closing"])

        try await main.participant.start()
        let anew = try #require(await main.participant.epoch)
        #expect(anew > epoch)
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        try await main.participant.rest()
        #expect(await main.participant.isAtRest)
        await main.participant.stop()
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(entries.filter { $0.kind == .resumed }.count == 2)
    }

    @Test("C26: a Main at rest follows its rest alone: what others write below its ownership does not come to it")
    func followsItsRestAlone() async throws {
        let world = World()
        let holder = try await world.holder()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .main, name: "main"), process: process.identity)
        let watched = Box<[[KeyPrefix]]>([])
        let store = WatchedStore(inner: group) { prefixes in watched.update { $0.append(prefixes) } }
        let main = try MainParticipant(
            of: store, options: world.options,
            environment: CoordinationEnvironment(clock: world.clock, processes: world.processes, seed: 3, push: nil)
        ) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: Quiet().script)
        }
        try await main.start()
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        try await main.rest()
        try await eventually("it follows its rest alone") { watched.value.last == OwnershipKey.ofSleep }
        try await main.resume()
        try await eventually("it follows all of it") { watched.value.last == [OwnershipKey.path] }
        await main.stop()
        await holder.participant.stop()
    }

    /// A store that reports each watch.
    private struct WatchedStore: ForwardingStore {
        let inner: any SharedStore
        let tell: @Sendable ([KeyPrefix]) -> Void

        func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
            tell(prefixes)
            return try await inner.watch(prefixes, from: start)
        }
    }

    @Test("C26: pushes for the host's Executors wait until Main has resumed, or its rest is over")
    func pushesWait() async throws {
        let world = World(options: Self.brisk)
        let (main, holder, epoch) = try await resting(in: world, Quiet())
        await holder.participant.wakeMain(for: .push)
        #expect(await !main.participant.isAtRest)
        #expect(await main.participant.epoch == epoch)

        try await main.participant.rest()
        main.process.freeze()
        await holder.participant.wakeMain(for: .push)
        #expect(try await world.owner() == nil)
        main.process.thaw()
        #expect(try await world.report().report.isClean)
    }

    @Test("C26: a keep-alive that is due wakes Main")
    func keepAliveWakes() async throws {
        let world = World()
        let quiet = Quiet()
        let (main, holder, _) = try await resting(in: world, quiet)
        await holder.participant.setKeepAlive(at: world.clock.now().advanced(by: .milliseconds(50)))
        try await eventually("Main has resumed") { await !main.participant.isAtRest }
        try await eventually("its core was told") { quiet.calls.value.last == "resume keepAlive" }
        try await main.participant.rest()
        #expect(await main.participant.isAtRest)
    }
}
