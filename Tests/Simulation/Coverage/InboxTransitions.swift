internal import Coordination

/// The inbox's state of a message.
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

/// The outcome of an operation on a message.
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
    /// True if the operation took effect, or may have: its answer is unknown.
    fileprivate var took: Bool {
        switch self {
        case .committed, .unknown: true
        case .refused, .failed: false
        }
    }
}

/// The next step of a call.
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
