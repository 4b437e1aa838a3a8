public import CoreAPI

/// Whose messages a listener hears.
///
/// What a listener was passed over is counted in ``MailboxEvent/lagged(_:)`` whoever sent it.
///
/// Source: contract M4.
public enum OriginFilter: Hashable, Sendable {
    /// Everybody's.
    case anyone
    /// Everybody's but those of the listener's own session.
    case others
    /// Those of one session.
    case only(SessionID)

    func admits(_ origin: SessionID, for own: SessionID) -> Bool {
        switch self {
        case .anyone: true
        case .others: origin != own
        case .only(let session): origin == session
        }
    }
}
