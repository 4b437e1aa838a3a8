import Coordination
import CoreAPI
import CoreAPITesting
import TestSupport
import Testing

/// A core that the witness sees and whose acquisition the timeline has forgotten.
struct ForgottenCoreTests {
    private let clock = ManualClock()
    private let world: World
    private let forgotten = Revision(rawValue: 1)

    init() {
        world = World(clock: clock)
    }

    @Test("C15: it is no overlap while its process may be ending")
    func ending() async throws {
        let hold = world.witness.begin(epoch: forgotten)
        let main = try await world.main("main beside a forgotten core")
        try await main.participant.start()
        let look = clock.now().advanced(by: .milliseconds(100))
        try await eventually("the witness is to look again") { clock.nextWake == look }

        hold.end()
        clock.advance(by: .milliseconds(100))

        try await eventually("it has looked") { clock.nextWake != look }
        await main.participant.stop()
        #expect(try await world.report().report.overlaps == 0)
    }

    @Test("C15: it is one when its process has had the time to end")
    func running() async throws {
        let hold = world.witness.begin(epoch: forgotten)
        let main = try await world.main("main beside a forgotten core that runs")
        try await main.participant.start()
        let look = clock.now().advanced(by: .milliseconds(100))
        try await eventually("the witness is to look again") { clock.nextWake == look }

        clock.advance(by: .seconds(31))

        try await eventually("it is an overlap") { try await world.report().report.overlaps == 1 }
        await main.participant.stop()
        hold.end()
    }
}
