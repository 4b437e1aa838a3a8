import CoreAPI
import CoreAPITesting
import Synchronization
import TestSupport
import Testing

@testable import Lifecycle

/// The runner: actions run one at a time and in order, failures are reported, and obsolete actions are cancelled.
struct ConnectivityRunnerTests {
    private func runner(
        _ delegate: ScriptedDelegate, _ clock: ManualClock, in application: ApplicationState = .foreground,
        _ connectivity: Connectivity = .disconnected
    ) -> ConnectivityRunner {
        let machine = ConnectivityMachine(
            startingIn: LifecyclePosition(application, connectivity), isRegistered: connectivity == .connected, seed: 1)
        return ConnectivityRunner(machine, delegate: delegate, clock: clock) { delegate.told($0) }
    }

    @Test("P2: actions are carried out in the order of the transitions, each after the end of the one before")
    func order() async {
        let delegate = ScriptedDelegate()
        let runner = runner(delegate, ManualClock())
        await runner.handle(.networkBack)
        await runner.settle()
        await runner.handle(.toBackground)
        await runner.handle(.toForeground)
        await runner.settle()
        #expect(
            delegate.carriedOut == [
                .reconnect, .register, .subscribe, .restorePresence, .restoreHTTP,
                .reportLastKnownState, .applyLevels(.background), .applyLevels(.foreground), .restorePresence,
                .restoreHTTP,
            ])
        #expect(delegate.mostAtOnce == 1)
        #expect(await runner.trace.map(\.number) == [.t2, .t8, .t9])
        #expect(await runner.trace == delegate.transitions)
        #expect(await runner.isRegistered)
        #expect(await runner.conditions == ServiceConditions(.foreground))
    }

    @Test("P2: a failure is told and traced, and tried again after the back-off")
    func failure() async throws {
        let delegate = ScriptedDelegate()
        let clock = ManualClock()
        let runner = runner(delegate, clock)
        delegate.failures = [.reconnect: "refused"]
        await runner.handle(.networkBack)
        await runner.settle()
        #expect(delegate.carriedOut == [.reconnect])
        #expect(delegate.transitions.last?.cause == .failed(.reconnect, "refused"))
        delegate.failures = [:]
        try await eventually("the runner waits for its next attempt") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        try await eventually("everything is restored") { delegate.carriedOut.last == .reportLastKnownState }
        #expect(await runner.isRegistered)
    }

    @Test("P2: an action whose network is lost is cancelled, and the next one waits for its end")
    func cancelled() async throws {
        let delegate = ScriptedDelegate()
        let runner = runner(delegate, ManualClock())
        delegate.holding = [.reconnect]
        await runner.handle(.networkBack)
        try await eventually("it connects") { delegate.underWay == .reconnect }
        await runner.handle(.networkLost)
        try await eventually("the loss is told") {
            delegate.carriedOut.last == .flagCallsUnavailable && delegate.underWay == nil
        }
        #expect(delegate.carriedOut == [.reconnect, .tellServices(.disconnected), .flagCallsUnavailable])
        #expect(delegate.mostAtOnce == 1)
        #expect(await runner.abandoned.isEmpty)
    }

    @Test("P2, P6: an action that ignores its cancellation is given up and named")
    func abandoned() async throws {
        let delegate = ScriptedDelegate()
        let clock = ManualClock()
        let runner = runner(delegate, clock, in: .suspended, .connected)
        delegate.stubborn = [.processSocketData]
        await runner.handle(.dataOnKeptSocket)
        try await eventually("it processes") { delegate.underWay == .processSocketData }
        try await eventually("the budget is watched") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(10))
        try await eventually("the time is over") { await runner.position.application == .suspended }
        try await eventually("its end is waited for") { clock.sleeperCount == 1 }
        #expect(!delegate.carriedOut.contains(.stopWork))
        clock.advance(by: ConnectivityRunner.timeout)
        try await eventually("it was stopped") { delegate.carriedOut.last == .allowSuspension }
        #expect(await runner.abandoned.map(\.action) == [.processSocketData])
        delegate.release()
    }

    @Test("P2: after its close a runner does nothing, and no task waits for it")
    func close() async throws {
        let delegate = ScriptedDelegate()
        let runner = runner(delegate, ManualClock())
        delegate.holding = [.reconnect]
        await runner.handle(.networkBack)
        try await eventually("it connects") { delegate.underWay == .reconnect }
        let hasSettled = Mutex(false)
        let waiting = Task {
            await runner.settle()
            hasSettled.withLock { $0 = true }
        }
        try await eventually("it is waited for") { await runner.waitingCount == 1 }
        await runner.close()
        try await eventually("nobody waits any more") { hasSettled.withLock { $0 } }
        await waiting.value
        await runner.close()
        #expect(await runner.handle(.networkLost) == nil)
        try await eventually("what was under way has ended") { delegate.underWay == nil }
        #expect(delegate.carriedOut == [.reconnect])
    }

    @Test("P2: a trace is bounded")
    func bounded() async {
        let delegate = ScriptedDelegate()
        let runner = ConnectivityRunner(
            ConnectivityMachine(seed: 1), delegate: delegate, clock: ManualClock(), traceCapacity: 3)
        for _ in 0..<10 { await runner.handle(.keepAlive) }
        #expect(await runner.trace.count == 3)
        #expect(await runner.trace.allSatisfy { $0.number == nil })
    }

    @Test("P2: what was given up is bounded like the trace, and the last of it is kept")
    func abandonedIsBounded() async throws {
        let delegate = ScriptedDelegate()
        let clock = ManualClock()
        let runner = ConnectivityRunner(
            ConnectivityMachine(seed: 1), delegate: delegate, clock: clock, traceCapacity: 1)
        delegate.stubborn = [.reconnect, .tellServices(.disconnected)]
        await runner.handle(.networkBack)
        try await eventually("it connects") { delegate.underWay == .reconnect }
        await runner.handle(.networkLost)
        try await eventually("its end is waited for") { clock.sleeperCount == 1 }
        clock.advance(by: ConnectivityRunner.timeout)
        try await eventually("the loss is told") { delegate.underWay == .tellServices(.disconnected) }
        #expect(await runner.abandoned.map(\.action) == [.reconnect])
        await runner.handle(.killedOrRebooted(finds: .disconnected))
        try await eventually("its end is waited for") { clock.sleeperCount == 1 }
        clock.advance(by: ConnectivityRunner.timeout)
        try await eventually("the new process begins") { delegate.carriedOut.last == .relaunchWithoutUserInterface }
        #expect(await runner.abandoned.map(\.action) == [.tellServices(.disconnected)])
        delegate.release()
    }

    @Test("P2: a cancelled task does not wait for the runner any longer")
    func settleIsCancelled() async throws {
        let delegate = ScriptedDelegate()
        let runner = runner(delegate, ManualClock())
        delegate.holding = [.reconnect]
        await runner.handle(.networkBack)
        let hasReturned = Mutex(false)
        let waiting = Task {
            await runner.settle()
            hasReturned.withLock { $0 = true }
        }
        try await eventually("it is waited for") { await runner.waitingCount == 1 }
        waiting.cancel()
        try await eventually("it waits no longer") { hasReturned.withLock { $0 } }
        #expect(await runner.waitingCount == 0)
        #expect(delegate.underWay == .reconnect)
        await runner.close()
    }
}

/// A delegate that notes each action, and completes it, fails or never returns, as the test sets.
final class ScriptedDelegate: ConnectivityDelegate {
    private struct State {
        var carriedOut: [ConnectivityAction] = []
        var transitions: [ConnectivityTransition] = []
        var failures: [ConnectivityAction: String] = [:]
        var holding: Set<ConnectivityAction> = []
        var stubborn: Set<ConnectivityAction> = []
        var underWay: [ConnectivityAction] = []
        var mostAtOnce = 0
        var isReleased = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let state = Mutex(State())

    var carriedOut: [ConnectivityAction] { state.withLock(\.carriedOut) }
    var transitions: [ConnectivityTransition] { state.withLock(\.transitions) }
    var underWay: ConnectivityAction? { state.withLock { $0.underWay.last } }
    var mostAtOnce: Int { state.withLock(\.mostAtOnce) }

    /// The actions that cannot be done, each with its error.
    var failures: [ConnectivityAction: String] {
        get { state.withLock(\.failures) }
        set { state.withLock { $0.failures = newValue } }
    }
    /// The actions that last until they are cancelled.
    var holding: Set<ConnectivityAction> {
        get { state.withLock(\.holding) }
        set { state.withLock { $0.holding = newValue } }
    }
    /// The actions that last until ``release()``, cancelled or not.
    var stubborn: Set<ConnectivityAction> {
        get { state.withLock(\.stubborn) }
        set { state.withLock { $0.stubborn = newValue } }
    }

    func told(_ transition: ConnectivityTransition) {
        state.withLock { $0.transitions.append(transition) }
    }

    func release() {
        let held = state.withLock { state in
            state.isReleased = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func carryOut(_ action: ConnectivityAction) async throws -> ConnectivityActionResult {
        let (failure, isHeld, isStubborn) = state.withLock { state in
            state.carriedOut.append(action)
            state.underWay.append(action)
            state.mostAtOnce = max(state.mostAtOnce, state.underWay.count)
            return (state.failures[action], state.holding.contains(action), state.stubborn.contains(action))
        }
        defer { state.withLock { state in state.underWay.removeAll { $0 == action } } }
        if isStubborn { await untilReleased() }
        if isHeld { try await untilCancelled() }
        if let failure { throw Failure(description: failure) }
        return switch action {
        case .prepareForBackground: .preparation(.ready)
        case .checkConnectivity: .connection(.stands)
        default: .done
        }
    }

    private func untilReleased() async {
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                if !state.isReleased { state.held.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
    }
}
