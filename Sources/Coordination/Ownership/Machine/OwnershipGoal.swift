/// A participant's goal concerning ownership.
package enum OwnershipGoal: Hashable, Sendable {
    /// Not to own. A participant that owns stops its core for this reason and releases the ownership.
    case nothing(because: IdleReason)
    /// To own; if another participant owns, to wait for it.
    case own
    /// To own or to be refused: an Executor that insists is refused while a Main owns.
    case insist
    /// To own, even if another Main owns.
    case takeOver

    package var wantsOwnership: Bool {
        if case .nothing = self { false } else { true }
    }
}

/// Why a participant does not want to own.
package enum IdleReason: Hashable, Sendable {
    case nothingAsked
    case notStarted
    case closes
    /// No call here needs a core.
    case nobodyWaits
    /// No call in the group waits for a message any more.
    case allServed
    case budgetUsedUp(Duration)
    /// The bound of the last open activity has passed.
    case boundPassed(Activity)
    /// Another Main has taken over.
    case superseded
    /// Another Main owns.
    case refused
    case startCancelled
    /// The store has refused the writes with which a Main becomes the owner.
    case storeRefuses
    /// Its core failed, with this problem.
    case coreFailed(String)

    /// The reason as text for users, for the timeline.
    package var sentence: String {
        switch self {
        case .nothingAsked: "nothing is asked of it"
        case .notStarted: "it has not started"
        case .closes: "its participant closes"
        case .nobodyWaits: "no call waits here"
        case .allServed: "no call waits any more"
        case .budgetUsedUp(let budget): "its budget of \(budget) is used up"
        case .boundPassed(let activity): "its \(activity.describe()) has lasted for its bound of \(activity.kind.bound)"
        case .superseded: "another Main takes over"
        case .refused: "another Main owns"
        case .startCancelled: "its start was cancelled"
        case .storeRefuses: "the group's store refuses it"
        case .coreFailed(let problem): problem
        }
    }

    /// The request to stop that a running core gets.
    package var request: StopRequest {
        switch self {
        case .nothingAsked, .notStarted, .nobodyWaits, .allServed: StopRequest(.served)
        case .budgetUsedUp: StopRequest(.budget)
        case .boundPassed(let activity): StopRequest(.bound, activity: activity)
        case .superseded: StopRequest(.superseded)
        case .closes, .refused, .startCancelled, .storeRefuses: StopRequest(.closing)
        case .coreFailed: StopRequest(.failed)
        }
    }
}
