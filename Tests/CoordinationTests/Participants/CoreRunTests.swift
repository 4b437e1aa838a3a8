import CoreAPI
import CoreAPITesting
import InMemoryBackend
import TestSupport
import Testing

@testable import Coordination

/// The reports of one run of a core to its participant, and their order.
struct CoreRunTests {
    private let reports = Box<[CoreRun.Report]>([])
    /// How many cores were made.
    private let made = Box(0)

    private func run(
        _ core: ScriptedCore, prepare: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> CoreRun {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main))
        let context = CoreContext(
            store: group, epoch: Revision(rawValue: 7), role: .main,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        return CoreRun(
            in: context,
            core: { [made] in
                made.update { $0 += 1 }
                return core
            }, prepare: prepare, starting: {}, isFenced: { false }, finish: {},
            report: { [reports] report in reports.update { $0.append(report) } })
    }

    private var end: (isOver: Bool, problem: String?) {
        for case .ended(let problem, _) in reports.value { return (true, problem?.text) }
        return (false, nil)
    }

    @Test("a core that is told to stop before it starts has not failed")
    func stoppedWhilePreparing() async throws {
        let gate = Promise<Void>()
        // The preparation returns after the stop; its result no longer matters.
        let run = try await run(.idle(in: World())) { await gate.pass() }
        try await eventually("it prepares") { gate.waiterCount == 1 }

        run.stop(StopRequest(.closing), within: .seconds(5))
        gate.open()

        try await eventually("it ends") { end.isOver }
        #expect(end.problem == nil)
        #expect(made.value == 0)
    }

    @Test("what a preparation throws that was not stopped is the core's problem")
    func failedPreparation() async throws {
        _ = try await run(.idle(in: World())) { throw ScriptedCore.CoreFailure(description: "no witness") }
        try await eventually("it ends") { end.isOver }
        #expect(end.problem?.contains("no witness") == true)
    }
}

/// The store of the group as a core has it.
struct EpochGuardedStoreTests {
    @Test("C4: beside the guard on its writes, a core's store says what the group's store says")
    func forwards() async throws {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main))
        try await group.put("key", [1])
        let store = EpochGuardedStore(inner: group, epoch: Revision(rawValue: 7), fenced: {})
        let usage = try #require(try await store.usage())
        #expect(try await group.usage() == usage)
        #expect(store.capabilities == group.capabilities)
        #expect(try await store.sessions() == group.sessions())
    }

    @Test("C4: a core posts under its epoch, and a superseded one wakes nobody")
    func posts() async throws {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main))
        let epoch = try await group.put(OwnershipKey.owner, [1], lifetime: .session).revision
        let context = CoreContext(
            store: EpochGuardedStore(inner: group, epoch: epoch, fenced: {}), epoch: epoch, role: .main,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        try await context.post("news", state: 7)
        #expect(try await group.state(of: "news").state == 7)

        try await group.delete(OwnershipKey.owner)
        let error = await #expect(throws: SharedCoreError.self) { try await context.post("news", state: 8) }
        #expect(error?.code == .guardFailed)
        #expect(try await group.state(of: "news").state == 7)
    }

    @Test("A group is closed behind a scope, also where that throws", arguments: [false, true])
    func scope(fails: Bool) async throws {
        struct Failure: Error {}
        let space = MemorySpace()
        let group = try await space.open("group", as: SessionDescription(role: .tool))
        do {
            let value = try await withGroup(group) { group in
                try await group.put("key", [1])
                if fails { throw Failure() }
                return try await group.get("key")?.value
            }
            #expect(!fails && value == [1])
        } catch is Failure {
            #expect(fails)
        }
        let error = await #expect(throws: SharedCoreError.self) { try await group.get("key") }
        #expect(error?.code == .closed)
    }
}
