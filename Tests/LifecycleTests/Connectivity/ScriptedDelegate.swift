import Lifecycle
import Synchronization
import TestSupport

/// A delegate that notes what it is to do, and does it well, badly or never, as it is told.
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

    /// What cannot be done.
    var failures: [ConnectivityAction: String] {
        get { state.withLock(\.failures) }
        set { state.withLock { $0.failures = newValue } }
    }
    /// What takes until it is cancelled.
    var holding: Set<ConnectivityAction> {
        get { state.withLock(\.holding) }
        set { state.withLock { $0.holding = newValue } }
    }
    /// What takes until ``release()``, cancelled or not.
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

    func carryOut(_ action: ConnectivityAction) async throws -> ConnectivityFinding {
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
