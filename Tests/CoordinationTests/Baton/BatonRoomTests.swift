import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Platform
import TestSupport
import Testing

/// An offer for which the store has no room (contract C25, S10).
@Suite("Baton: no room")
struct BatonRoomTests {
    /// Refuses each offer of a baton.
    private struct FullStore: ForwardingStore {
        let inner: any SharedStore
        let code: SharedCoreError.Code

        func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
            let isOffer = transaction.operations.contains {
                if case .put(OwnershipKey.baton, _, _) = $0 { true } else { false }
            }
            if isOffer { throw SharedCoreError(code, "There is no room.", at: "test") }
            return try await inner.commit(transaction)
        }
    }

    private struct GivingCore: Core {
        let begins: Bool
        let notes: Box<[String]>

        func start(in context: CoreContext) async throws {
            guard begins, let id = CallID("call-1") else { return }
            _ = try await context.begin(
                call: CallDescription(id, .incoming, from: "sip:ann", to: "sip:bob"), in: .answered, moves: "test/1")
        }

        func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3600)) }
        func stop() async {}

        func handOver(_ request: StopRequest) async -> Baton? {
            guard let id = CallID("call-1") else { return nil }
            return try? Baton("test/1", bytes: [1], calls: [id])
        }

        func batonEnded(_ end: BatonEnd) async { notes.update { $0.append("\(end)") } }
    }

    @Test(
        "C25, S10: an offer for which the store has no room is refused, and the ownership is released without it",
        arguments: [SharedCoreError.Code.storageFull, .limitExceeded])
    func noRoom(code: SharedCoreError.Code) async throws {
        let space = MemorySpace()
        let notes = Box<[String]>([])
        // Long timeouts, so that nothing else ends the wait of Main.
        var options = CoordinationOptions(
            handoverTimeout: .seconds(600), handoverMaximumTimeout: .seconds(600), executorBudget: .seconds(600),
            coreLinger: .seconds(600), stopTimeout: .seconds(60))
        options.takesBatons = ["test/1"]
        options.answerBound = .seconds(60)
        let (near, far) = (
            try await space.open("group", as: SessionDescription(role: .executor, name: "executor")),
            try await space.open("group", as: SessionDescription(role: .main, name: "main"))
        )
        let executor = try ExecutorParticipant(
            of: FullStore(inner: near, code: code), options: options,
            core: { GivingCore(begins: true, notes: notes) })
        try await executor.start()
        try await eventually("the call is open") { try await Calls(far).list().map(\.state) == [.answered] }
        let main = try MainParticipant(
            of: far, options: options, core: { GivingCore(begins: false, notes: notes) })
        try await withTimeout(TestTimeout.usual, "Main owns") { try await main.start() }
        try await eventually("the old core hears of it") { notes.value == ["refused"] }
        try await eventually("the call is lost") { try await Calls(far).list().map(\.state) == [.ended(.lost)] }
        let report = TimelineChecker.check(try await Timeline(far).history())
        #expect(report.isClean, "\(report.violations)")
        await main.stop()
        await executor.close()
    }
}
