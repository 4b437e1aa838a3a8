internal import Coordination
internal import CoreAPI

/// What an ownership machine is in before a step.
enum Situation: UInt8 {
    /// It does not own and does not want to.
    case idle
    case refused, resting
    /// It wants to own, and nobody does; or another's request for hand-over stands.
    case free, behindRequest
    /// It waits for an owner.
    case behindExecutor, behindMain
    /// It has asked the owner; or its own request stands and nobody owns.
    case asking, askedNobody
    /// The deadline of its request has passed.
    case confirmed, killed, cannotKill
    /// It owns, and its core is so far.
    case owning, starting, running, stopping, ended, releasing
    /// A core runs whose ownership is gone.
    case fencedRunning, fencedStopping, fencedEnded
    /// A core runs on after it was let go, or does not belong to what is held now.
    case other

    init(of machine: OwnershipMachine, at now: BootInstant) {
        let owner = machine.view.owner
        let isOwner = owner?.session == machine.myself.session
        if let core = machine.core, !isOwner || core.epoch != owner?.claim {
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
        guard machine.wish.wantsOwnership else {
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
            self = owner.record.role == .main ? .behindMain : .behindExecutor
        } else {
            self = machine.view.handover == nil ? .free : .behindRequest
        }
    }
}
