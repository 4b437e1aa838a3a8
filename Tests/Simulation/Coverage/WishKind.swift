internal import Coordination

/// The wishes, and the reasons for having none.
enum WishKind: UInt8 {
    case nothing, own, insist, takeOver
    case notStarted, closes, nobodyWaits, allServed, budgetUsedUp, superseded, coreFailed, refused

    init(_ wish: Wish) {
        switch wish {
        case .own: self = .own
        case .insist: self = .insist
        case .takeOver: self = .takeOver
        case .nothing(let reason):
            self =
                switch reason {
                case "it has not started": .notStarted
                case "its participant closes": .closes
                case "nobody waits here": .nobodyWaits
                case "everybody who waited has been served": .allServed
                case "another Main takes over": .superseded
                case "another Main owns": .refused
                case "nothing is asked of it": .nothing
                default: reason.hasPrefix("its budget") ? .budgetUsedUp : .coreFailed
                }
        }
    }
}
