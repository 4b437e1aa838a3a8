internal import Coordination

/// The wishes, and the reasons for having none.
enum WishKind: UInt8 {
    case nothing, own, insist, takeOver
    case notStarted, closes, nobodyWaits, allServed, budgetUsedUp, boundPassed, superseded, coreFailed, refused

    init(_ wish: Wish) {
        switch wish {
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

/// Who waits, as far as is known.
enum PolicyInput: UInt8 {
    /// What is waited for is not known yet; somebody waits; nobody does.
    case unknown, awaited, quiet
    /// An activity is open, with any wait beside it.
    case busy
}

/// What is decided about a core that runs for others.
enum PolicyDecision: UInt8 {
    case run, done, spent
}
