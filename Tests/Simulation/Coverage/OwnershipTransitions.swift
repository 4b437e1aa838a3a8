internal import Coordination
internal import CoreAPI

/// The situation of an ownership machine before a step.
enum Situation: UInt8 {
    /// The member does not own and has no goal to own.
    case idle
    case refused, resting
    /// The goal of the member is to own, and no member owns; or a hand-over request of another member is pending.
    case free, behindRequest
    /// The member waits for an owner.
    case behindExecutor, behindMain
    /// The member has sent the owner a request, or its own request is pending without an owner.
    case asking, askedNobody
    /// The deadline of its request has passed.
    case confirmed, killed, cannotKill
    /// The member owns, with the state of its core.
    case owning, starting, running, stopping, ended, releasing
    /// A core of a lost ownership still runs.
    case fencedRunning, fencedStopping, fencedEnded
    /// An abandoned core, or a core of another ownership than the present one, still runs.
    case other
    /// The rest of the member is offered, is in force, or is in force although its holder has ended.
    case offering, atRest, leftAtRest
    /// The member waits for a Main at rest, or for a Main at rest that has lost its holder.
    case behindRest, behindLeftRest
    /// A holder without an ownership, with an offer, with a Main at rest, and with one that was woken.
    case holdingNothing, offered, holding, holdingWoken

    init(of hold: HolderMachine) {
        let isWoken = hold.view.sleeper.flatMap { hold.view.wake(of: $0) } != nil
        self =
            hold.holding != nil
            ? (isWoken ? .holdingWoken : .holding) : hold.view.offer == nil ? .holdingNothing : .offered
    }

    init(of machine: OwnershipMachine, at now: BootInstant) {
        let owner = machine.view.owner
        let isOwner = owner?.session == machine.myself.session
        let isOwnRest = machine.view.rest?.session == machine.myself.session
        if isOwnRest, isOwner || owner == nil || machine.isAtRest {
            self = owner == nil ? .leftAtRest : machine.isAtRest ? .atRest : .offering
        } else if let core = machine.core, !isOwner || core.epoch != owner?.claim {
            self =
                switch core.phase {
                case .starting, .running: .fencedRunning
                case .stopping: .fencedStopping
                case .ended: .fencedEnded
                }
        } else if isOwner {
            if machine.holding?.ending != nil {
                self = .releasing
            } else {
                self =
                    switch machine.core?.phase {
                    case nil: .owning
                    case .starting: .starting
                    case .running: .running
                    case .stopping: .stopping
                    case .ended: .ended
                    }
            }
        } else {
            self.init(seeking: machine, at: now)
        }
    }

    private init(seeking machine: OwnershipMachine, at now: BootInstant) {
        guard machine.goal.wantsOwnership else {
            self = .idle
            return
        }
        let owner = machine.view.owner
        let isAsking = machine.view.handover?.session == machine.myself.session
        if machine.refusal != nil {
            self = .refused
        } else if let rest = machine.rest, now < rest.until {
            self = .resting
        } else if isAsking {
            guard owner != nil else {
                self = .askedNobody
                return
            }
            switch machine.handoverWait?.enforcement {
            case nil, .notYet: self = .asking
            case .confirmed: self = .confirmed
            case .killed: self = .killed
            case .impossible: self = .cannotKill
            }
        } else if let owner {
            self =
                machine.view.sleeper != nil
                ? .behindRest : owner.record.role == .main ? .behindMain : .behindExecutor
        } else if machine.view.rest != nil, machine.view.handover == nil {
            self = .behindLeftRest
        } else {
            self = machine.view.handover == nil ? .free : .behindRequest
        }
    }
}

/// The step of an ownership machine.
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
    case offersRest, takesRest, endsRest, wakes, wakesAgain, resumes, resumesCore, presents
    case settles

    init(_ directive: Directive?, by machine: OwnershipMachine) {
        switch directive {
        case nil: self = .waits
        case .look: self = .looks
        case .bury: self = .buries
        case .startCore: self = .starts
        case .stopCore: self = .stops
        case .resumeCore: self = .resumesCore
        case .examine: self = .examines
        case .kill: self = .kills
        case .commit(let transition): self.init(transition, by: machine)
        }
    }

    private init(_ transition: Transition, by machine: OwnershipMachine) {
        if case .ends = transition.baton {
            self = .settles
            return
        }
        guard let timelineEvent = transition.timelineEvents.last else {
            self.init(untold: transition.transaction)
            return
        }
        switch timelineEvent.kind {
        case .acquired: self = .acquires
        case .tookOver:
            self =
                switch timelineEvent.previous?.end {
                case .unanswered: .takesOverUnanswered
                case .replaced: .replaces
                default: .takesOverLate
                }
        case .asked: self = .asks
        case .killed: self = .announcesKill
        case .stateChanged: self = timelineEvent.to == .running ? .publishesRunning : .publishesStopping
        case .released: self = transition.timelineEvents.contains { $0.kind == .coreGivenUp } ? .givesUp : .releases
        case .rested: self = .takesRest
        case .woken: self = .wakes
        case .resumed: self = .resumes
        case .coreGivenUp: self = .tellsGivenUp
        case .coreStopped: self = .tellsStopped
        default:
            self = machine.view.handover?.session == machine.myself.session ? .withdraws : .removesRequest
        }
    }

    private init(untold transaction: Transaction) {
        if let rest = Self(ofRest: transaction) {
            self = rest
            return
        }
        guard case .put(let key, let value, _) = transaction.operations.first, key == OwnershipKey.challenge else {
            self = .answers
            return
        }
        self = ChallengeRecord(bytes: value).first == nil ? .challenges : .challengesAgain
    }
}

extension Move {
    /// The commits about a rest that the timeline does not record.
    fileprivate init?(ofRest transaction: Transaction) {
        var found: Move?
        for operation in transaction.operations {
            switch operation {
            case .put(OwnershipKey.rest, _, _): found = .offersRest
            case .put(OwnershipKey.wake, _, _): found = .wakesAgain
            case .put(OwnershipKey.holder, _, _), .delete(OwnershipKey.holder): found = .presents
            case .delete(OwnershipKey.rest): found = found ?? .endsRest
            default: break
            }
        }
        guard let found else { return nil }
        self = found
    }
}

/// The phases of a core in an ownership machine.
enum CorePhase: UInt8 {
    case none, starting, running, stopping, ended

    init(_ core: LocalCore?) {
        self =
            switch core?.phase {
            case nil: .none
            case .starting: .starting
            case .running: .running
            case .stopping: .stopping
            case .ended: .ended
            }
    }
}

/// The progress of enforcing a deadline.
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
