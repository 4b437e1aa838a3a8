internal import CoreAPI
internal import Synchronization

/// Prevents a participant from stopping its core while the core begins an activity that the participant does not know
/// yet.
///
/// The watch may deliver an activity after the call that began it has returned. So an Executor that has served all
/// calls stops its core only if no call that begins an activity is under way and the watch has shown each activity that
/// was begun. After this decision the core can begin no activity.
///
/// Source: contract C17.
final class ActivityGate: Sendable {
    private struct State {
        /// How many calls that begin an activity have not returned.
        var callCount = 0
        /// The last commit that began one.
        var begun = Revision.zero
        /// True if the participant means to stop the core.
        var isClosing = false
        /// Why the core was told to stop; nil before that.
        var request: StopRequest?
    }

    private let state = Mutex(State())
    private let changed: @Sendable () -> Void

    /// Makes a gate for a core that has begun no activity.
    ///
    /// - Parameter changed: Called when a call has returned.
    init(changed: @escaping @Sendable () -> Void = {}) {
        self.changed = changed
    }

    /// Runs the body, which begins an activity, unless the core must stop.
    ///
    /// - Parameter body: Returns the commit that begins the activity.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` if the core must stop; the errors of `body`.
    func begin(
        _ body: () async throws(SharedCoreError) -> Revision
    ) async throws(SharedCoreError) {
        let isOpen = state.withLock { state in
            guard !state.isClosing, state.request == nil else { return false }
            state.callCount += 1
            return true
        }
        guard isOpen else {
            throw SharedCoreError(
                .guardFailed, "The core is about to stop: it begins no activity any more.",
                at: OwnershipKey.activities.text)
        }
        var begun = Revision.zero
        defer {
            state.withLock { state in
                state.callCount -= 1
                state.begun = max(state.begun, begun)
            }
            changed()
        }
        begun = try await body()
    }

    /// Decides whether the core must stop. The core begins no activity during the decision, nor after it if it must
    /// stop.
    ///
    /// - Parameters:
    ///   - revision: The revision up to which the participant knows the activities.
    ///   - decide: Called with true if the core is beginning an activity, or has begun one that the participant does
    ///     not know. It must return at once.
    func decide(knowing revision: Revision, _ decide: (_ isBeginning: Bool) -> OwnershipGoal) -> OwnershipGoal {
        state.withLock { state in
            let goal = decide(state.callCount > 0 || state.begun > revision)
            state.isClosing = !goal.wantsOwnership
            return goal
        }
    }

    /// Records that the core is told to stop, and why. Only the first reason counts.
    func close(_ request: StopRequest) { state.withLock { $0.request = $0.request ?? request } }

    /// Why the core was told to stop; nil before that.
    var request: StopRequest? { state.withLock(\.request) }
}
