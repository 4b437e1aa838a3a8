import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// A Main with a core that fails after it has run. Serialized, because by manual clocks the sessions of two groups are
/// equal.
@Suite(.serialized)
struct FailingCoreScenarios {
    /// A core that fails each time that the test asks for it.
    private struct FragileCore: Core {
        let isBroken: Box<Bool>

        struct Break: Error, CustomStringConvertible {
            let description = "the line is dead"
        }

        func start(in context: CoreContext) async throws {}

        func iterate(in context: CoreContext) async throws {
            while !isBroken.value { try await Task.sleep(for: .milliseconds(1)) }
            isBroken.update { $0 = false }
            throw Break()
        }

        func stop() async {}
    }

    private let clock = ManualClock()
    private let world: World
    private let isBroken = Box(false)
    private let heard = Box<[OwnershipWaitReason]>([])

    init() {
        world = World(clock: clock)
    }

    private func owningMain() async throws -> MainParticipant {
        let group = try await world.space.open("group", as: SessionDescription(role: .main, name: "fragile"))
        let main = try MainParticipant(
            of: group, options: world.options,
            environment: CoordinationEnvironment(clock: clock, processes: world.processes, seed: 1)
        ) { [isBroken] in FragileCore(isBroken: isBroken) }
        try await main.start { [heard] wait in heard.update { $0.append(wait) } }
        return main
    }

    /// Makes the running core fail, and lets the time until its next start pass.
    private func fail(resting seconds: Int) async throws {
        isBroken.update { $0 = true }
        let rest = OwnershipWaitReason.rest(.seconds(seconds), after: "its core failed: the line is dead")
        try await eventually("it says that it rests for \(seconds) s") { heard.value.last == rest }
        try await eventually("it has released") { try await world.owner() == nil }
        clock.advance(by: .seconds(seconds))
        try await eventually("its core runs again") { try await world.owner()?.state == .running }
    }

    @Test("C8: a Main starts its core again after a rest that grows, and says so")
    func startsAgain() async throws {
        let main = try await owningMain()
        for rest in [1, 2, 4] { try await fail(resting: rest) }

        #expect(await main.coreStarts == 4)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        let reasons = entries.filter { $0.kind == .released }.map(\.reason)
        #expect(
            reasons == [1, 2, 4].map { "its core failed: the line is dead; the next one starts in \($0).0 seconds" })
        await main.stop()
        #expect(await main.waitUntilEnded() == .stopped)
    }

    @Test("C8: a Main whose core fails ten times in a row has ended, and its caller learns of it")
    func givesUp() async throws {
        let main = try await owningMain()
        let end = Box<MainEndReason?>(nil)
        let waiting = Task {
            let result = await main.waitUntilEnded()
            end.update { $0 = result }
        }
        for rest in [1, 2, 4, 8, 16, 30, 30, 30, 30] {
            #expect(end.value == nil)
            try await fail(resting: rest)
        }
        isBroken.update { $0 = true }

        try await withTimeout(TestTimeout.usual, "it ends") { await waiting.value }
        #expect(end.value == .coreFailed("its core failed: the line is dead"))
        #expect(try await world.owner() == nil)
        await main.stop()
    }
}
