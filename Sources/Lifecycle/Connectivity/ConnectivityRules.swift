/// The choices of a connectivity machine.
public struct ConnectivityRules: Hashable, Sendable {
    /// What becomes of a suspension that the registrations would not survive.
    public enum Unprepared: String, CaseIterable, Hashable, Sendable {
        /// The application stays awake.
        case stayAwake
        /// The user is warned and the application sleeps.
        case warn
    }

    /// What is done at each transition.
    package var table = TransitionTable.standard
    /// What becomes of a suspension that the registrations would not survive.
    public var unprepared: Unprepared
    /// How long a wake may last. Source: contract P4, P6.
    public var budget: Duration
    /// For how long the application sleeps again after a wake, unless the system has said otherwise before.
    public var interval: Duration
    /// How long to wait between attempts to connect.
    public var backOff: BackOffRules

    public init(
        unprepared: Unprepared = .stayAwake, budget: Duration = .seconds(10),
        interval: Duration = .seconds(600), backOff: BackOffRules = BackOffRules()
    ) {
        self.unprepared = unprepared
        self.budget = budget
        self.interval = interval
        self.backOff = backOff
    }
}
