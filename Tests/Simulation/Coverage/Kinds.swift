internal import Coordination

/// The states and moves of the smaller machines, by name.
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

enum PolicyInput: UInt8 {
    /// What is waited for is not known yet; somebody waits; nobody does.
    case unknown, awaited, quiet
}

enum PolicyDecision: UInt8 {
    case run, done, spent
}

enum InboxKind: UInt8 {
    case absent, stored, taken, acknowledged, nothingToShow

    init(_ state: InboxState) {
        self =
            switch state {
            case .absent: .absent
            case .stored: .stored
            case .taken: .taken
            case .acknowledged: .acknowledged
            case .nothingToShow: .nothingToShow
            }
    }
}

enum WaitMove: UInt8 {
    case take, nothingToShow, timeout, expect, waitForCore, wait

    init(_ step: MessageWait.Step) {
        self =
            switch step {
            case .take: .take
            case .nothingToShow: .nothingToShow
            case .timeout: .timeout
            case .expect: .expect
            case .wait(_, let needsCore): needsCore ? .waitForCore : .wait
            }
    }
}

enum InboxMove: UInt8 {
    case stores, storesNothing, takes, takesNothing, acknowledges, acknowledgesNothing, givesBack, givesBackNothing
    case holderEnds, expires

    static func stored(_ verdict: Simulation.Verdict) -> InboxMove { verdict.took ? .stores : .storesNothing }
    static func taken(_ verdict: Simulation.Verdict) -> InboxMove { verdict.took ? .takes : .takesNothing }
    static func acknowledged(_ verdict: Simulation.Verdict) -> InboxMove {
        verdict.took ? .acknowledges : .acknowledgesNothing
    }
    static func givenBack(_ verdict: Simulation.Verdict) -> InboxMove {
        verdict.took ? .givesBack : .givesBackNothing
    }
}

extension Simulation.Verdict {
    /// Whether it took effect.
    fileprivate var took: Bool {
        switch self {
        case .committed, .unknown: true
        case .refused, .failed: false
        }
    }
}
