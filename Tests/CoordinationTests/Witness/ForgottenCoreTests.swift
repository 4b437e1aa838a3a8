import Coordination
import CoreAPI
import CoreAPITesting
import TestSupport
import Testing

/// A core that the witness sees after its acquisition has left the timeline.
struct ForgottenCoreTests {
    private let clock = ManualClock()
    private let world: World

    init() {
        var options = CoordinationOptions.patient
        options.timelineCapacity = 16
        world = World(clock: clock, options: options)
    }

    @Test("C15: a core that the timeline does not mention is an overlap at once")
    func unknown() async throws {
        let hold = world.witness.begin(epoch: Revision(rawValue: 1))
        let main = try await world.main("main beside an unknown core")

        try await main.participant.start()

        try await eventually("it is an overlap") { try await world.report().report.overlaps == 1 }
        await main.participant.stop()
        hold.end()
    }

    @Test("C15: one whose acquisition lies before the checkpoint is none while its killed process may be ending")
    func ending() async throws {
        let contexts = Box<[CoreContext]>([])
        let stuck = Promise<Void>()
        var script = ScriptedCore.Script()
        script.onStart = { context in contexts.update { $0.append(context) } }
        script.stop = stuck
        let first = try await world.main("main of long ago", script: script)
        try await first.participant.start()
        let context = try #require(contexts.value.first)
        for number in 1...100 { await context.report("problem \(number)") }
        try await eventually("the acquisition is dropped") {
            try await !world.report().entries.contains { $0.kind == .acquired || $0.kind == .coreStarted }
        }
        first.process.kill()

        let second = try await world.main("main beside a core that ends")
        try await second.participant.start()
        let look = clock.now().advanced(by: .milliseconds(100))
        try await eventually("the witness is to look again") { clock.nextWake == look }
        stuck.open()
        try await eventually("the lock is given back") { world.gauge.running.count == 1 }
        clock.advance(by: .milliseconds(100))

        try await eventually("it has looked") { clock.nextWake != look }
        await second.participant.stop()
        let (report, entries) = try await world.report()
        #expect((report.overlaps, report.supersededOverlaps) == (0, 0))
        #expect(!entries.contains { $0.kind == .overlap || $0.kind == .supersededOverlap })
    }
}
