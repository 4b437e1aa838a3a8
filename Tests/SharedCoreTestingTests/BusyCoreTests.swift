import Coordination
import CoreAPI
import Testing

@testable import SharedCoreTesting

@Suite("A Main and a core that is busy, to the nanosecond of a clock that the test moves (contract C17)")
struct BusyCoreTests {
    private let group = SimulatedGroup()
    private let script = CoreScript()
    private let activities = Log<OpenActivity>()

    /// An Executor with a busy core and a call that waits, and a Main that waits for it.
    private func waitingMain(
        for kind: Activity.Kind
    ) async throws -> (executor: SimulatedExecutor, main: SimulatedMain, start: SimulatedRun<Void>) {
        script.act(at: .start) { [activities] in activities.add(try await $0.begin(kind, id: "1")) }
        let executor = try await group.executor("push", script: script)
        _ = executor.message(forCallID: "1", timeout: .seconds(7200))
        try await group.advance(until: "the Executor's core runs") { try await group.owner()?.state == .running }
        let main = try await group.main("app")
        let start = main.starting()
        try await group.advance(until: "Main has asked") {
            try await group.timeline().entries.contains { $0.kind == .asked }
        }
        return (executor, main, start)
    }

    @Test("Between the end of a call and the start of Main's core no time passes: each is woken by the other")
    func callEnds() async throws {
        let (executor, _, start) = try await waitingMain(for: .call)
        // At a time at which Main does not poll by itself.
        try await group.advance(by: .seconds(59) + .milliseconds(33))
        #expect(!start.isOver)
        let call = try #require(activities.all.first)
        let end = group.clock.now()
        _ = executor.process.run { try await call.end() }

        try await start.value

        #expect(end.duration(to: group.clock.now()) == .zero)
    }

    @Test("Main's core starts at the very end of a bound that is used up, though the activity goes on")
    func boundPasses() async throws {
        let (_, _, start) = try await waitingMain(for: .custom("index", bound: .milliseconds(77_077)))

        try await start.value

        #expect(try #require(activities.all.first).activity.latestEnd == group.clock.now())
    }

    @Test("No time passes between a Main's insistence and the start of its core")
    func insists() async throws {
        let (_, main, start) = try await waitingMain(for: .call)
        try await group.advance(by: .seconds(61) + .milliseconds(33))
        let moment = group.clock.now()

        try await main.start(insisting: true)

        try await start.value
        #expect(moment.duration(to: group.clock.now()) == .zero)
    }
}
