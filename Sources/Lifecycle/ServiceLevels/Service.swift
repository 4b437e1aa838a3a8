/// What an application offers over its connection, one row of the table of service levels each.
///
/// Source: contract P1.
public enum Service: String, CaseIterable, Hashable, Sendable, Codable {
    /// The registration with the server, without which no event arrives.
    case registration
    /// The subscriptions to events about oneself: `reg`, `dialog`, `message-summary` (waiting messages), feature status
    /// and the `ccs-profile`.
    case subscriptions
    /// A call that this side begins, while it is in progress or active.
    case outgoingCall
    /// A call that arrives: its INVITE wakes the application, then the user is alerted.
    case incomingCall
    /// A call with media, of two parties or a conference.
    case activeCall
    /// A call that this side holds.
    case heldCall
    /// A call that the other side holds.
    case remotelyHeldCall
    /// The subscriptions to the presence of others; one's own is among ``subscriptions``.
    case presenceSubscription
    /// What tells others about one's own presence.
    case presencePublish
    /// What works by HTTP requests: contacts, history, configuration.
    case httpServices

    /// The levels that mean something for the service. Others are refused in a ``ServiceLevelOverride``.
    public var possibleLevels: [ServiceLevel] {
        switch self {
        case .registration, .subscriptions, .presenceSubscription, .httpServices: [.normal, .none]
        case .outgoingCall, .incomingCall, .heldCall, .remotelyHeldCall: [.normal, .signalingOnly, .none]
        case .activeCall: [.normal]
        case .presencePublish: [.normal, .limited, .none]
        }
    }

    /// Whether the service has media, which a cellular call takes away (contract P3).
    public var hasMedia: Bool {
        switch self {
        case .outgoingCall, .incomingCall, .activeCall, .heldCall, .remotelyHeldCall: true
        case .registration, .subscriptions, .presenceSubscription, .presencePublish, .httpServices: false
        }
    }
}
