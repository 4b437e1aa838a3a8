internal import Coordination
internal import CoreAPI

/// What an ownership machine does in a step.
enum Move: UInt8 {
    case waits
    case looks, buries
    case starts, stops
    case examines, kills
    case acquires
    case takesOverUnanswered, takesOverLate, replaces
    case asks, withdraws, removesRequest, announcesKill
    case challenges, challengesAgain, answers
    case publishesRunning, publishesStopping
    case releases, givesUp
    case tellsStopped, tellsGivenUp

    init(_ directive: Directive?, by machine: OwnershipMachine) {
        switch directive {
        case nil: self = .waits
        case .look: self = .looks
        case .bury: self = .buries
        case .startCore: self = .starts
        case .stopCore: self = .stops
        case .examine: self = .examines
        case .kill: self = .kills
        case .commit(let transition): self.init(transition, by: machine)
        }
    }

    private init(_ transition: Transition, by machine: OwnershipMachine) {
        guard let story = transition.stories.last else {
            self.init(untold: transition.transaction)
            return
        }
        switch story.kind {
        case .acquired: self = .acquires
        case .tookOver:
            self =
                switch story.previous?.end {
                case .unanswered: .takesOverUnanswered
                case .replaced: .replaces
                default: .takesOverLate
                }
        case .asked: self = .asks
        case .killed: self = .announcesKill
        case .stateChanged: self = story.to == .running ? .publishesRunning : .publishesStopping
        case .released: self = transition.stories.first?.kind == .coreGivenUp ? .givesUp : .releases
        case .coreGivenUp: self = .tellsGivenUp
        case .coreStopped: self = .tellsStopped
        default:
            self = machine.view.handover?.session == machine.myself.session ? .withdraws : .removesRequest
        }
    }

    private init(untold transaction: Transaction) {
        guard case .put(let key, let value, _) = transaction.operations.first, key == OwnershipKey.challenge else {
            self = .answers
            return
        }
        self = ChallengeRecord(bytes: value).first == nil ? .challenges : .challengesAgain
    }
}
