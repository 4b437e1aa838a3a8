internal import Coordination

/// The goals, and the reasons for having none.
enum GoalKind: UInt8 {
    case nothing, own, insist, takeOver
    case notStarted, closes, nobodyWaits, allServed, budgetUsedUp, boundPassed, superseded, coreFailed, refused

    init(_ goal: OwnershipGoal) {
        switch goal {
        case .own: self = .own
        case .insist: self = .insist
        case .takeOver: self = .takeOver
        case .nothing(let reason):
            self =
                switch reason {
                case .notStarted: .notStarted
                case .closes: .closes
                case .nobodyWaits: .nobodyWaits
                case .allServed: .allServed
                case .superseded: .superseded
                case .refused: .refused
                case .nothingAsked: .nothing
                case .budgetUsedUp: .budgetUsedUp
                case .boundPassed: .boundPassed
                // The simulation's Mains are not cancelled and wait for their store.
                case .coreFailed, .startCancelled, .storeRefuses: .coreFailed
                }
        }
    }
}

/// The demand as far as it is known.
enum PolicyInput: UInt8 {
    /// The demand is not known yet; a call waits; no call waits.
    case unknown, awaited, quiet
    /// An activity is open, with or without a waiting call.
    case busy
}

/// The decision about a core that runs for waiting calls.
enum PolicyDecision: UInt8 {
    case run, done, spent
}
