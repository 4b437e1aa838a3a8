/// What becomes of what is done to a message.
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
