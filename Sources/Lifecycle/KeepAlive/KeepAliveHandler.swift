public import CoreAPI

/// A handler that is called once in each interval of the keep-alive, to reconnect and to refresh.
///
/// Source: contract P4.
public protocol KeepAliveHandler: Sendable {
    /// Refreshes the registrations of the run, within its time. Returns promptly when its task is cancelled: its time
    /// is over.
    func keepAlive(_ run: KeepAliveRun) async throws

    /// Called when the time of a run is nearly over. Must return at once.
    func timeIsNearlyOver(_ run: KeepAliveRun)
}

extension KeepAliveHandler {
    /// Does nothing.
    public func timeIsNearlyOver(_ run: KeepAliveRun) {}
}

/// One call of a keep-alive handler, with its arguments.
///
/// Source: contract P4.
public struct KeepAliveRun: Hashable, Sendable {
    /// The handler's name.
    public let handler: String
    /// The time at which it was called.
    public let startedAt: BootInstant
    /// The time of the warning that its time is nearly over.
    public let warnedAt: BootInstant
    /// The time at which it is cut off.
    public let endsAt: BootInstant
    /// How many of its intervals went by without a call, because no process ran.
    public let missed: Int
    /// The registrations to refresh.
    public let toRefresh: [String]
    /// The registrations that inbound traffic has just proved alive: they need no refresh now.
    public let provenAlive: [String]
}

/// The report of a call of a keep-alive handler.
public struct KeepAliveReport: Hashable, Sendable {
    /// How it ended.
    public enum Outcome: Hashable, Sendable {
        /// In time.
        case finished
        /// With an error of this text.
        case failed(String)
        /// By its budget.
        case cutOff
    }

    /// The call.
    public let run: KeepAliveRun
    /// How it ended.
    public let outcome: Outcome
}
