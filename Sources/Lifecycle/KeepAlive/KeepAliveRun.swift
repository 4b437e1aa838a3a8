public import CoreAPI

/// One call of a keep-alive handler: what it is told.
///
/// Source: contract P4.
public struct KeepAliveRun: Hashable, Sendable {
    /// The handler's name.
    public let handler: String
    /// When it was called.
    public let startedAt: BootInstant
    /// When it is told that its time is nearly over.
    public let warnedAt: BootInstant
    /// When it is cut off.
    public let endsAt: BootInstant
    /// How many of its intervals went by without a call, because nobody ran.
    public let missed: Int
    /// The registrations to refresh.
    public let toRefresh: [String]
    /// The registrations that inbound traffic has just proved alive: they need no refresh now.
    public let provenAlive: [String]
}
