internal import Coordination

/// How far the enforcement of a deadline is.
enum Enforcement: UInt8 {
    case notAsked, notYet, confirmed, killed, impossible

    init(_ machine: OwnershipMachine) {
        self =
            switch machine.handoverWait?.enforcement {
            case nil: .notAsked
            case .notYet: .notYet
            case .confirmed: .confirmed
            case .killed: .killed
            case .impossible: .impossible
            }
    }
}
