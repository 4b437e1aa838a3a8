/// The level of a service.
///
/// Source: contract P1.
public enum ServiceLevel: String, CaseIterable, Hashable, Sendable, Codable {
    /// Full service.
    case normal
    /// The call is established and can be controlled; no media flows.
    case signalingOnly
    /// A part of the service, described in the row of the table: presence is published only when the state of a call
    /// changes.
    case limited
    /// No service. Pending work is finished, then the service stops and refuses new work.
    case none
}

/// A service that an application offers over its connection, one row of the table of service levels.
///
/// Source: contract P1.
public enum Service: String, CaseIterable, Hashable, Sendable, Codable {
    /// The registration with the server, without which no event arrives.
    case registration
    /// The subscriptions to events about the user's own account: `reg`, `dialog`, `message-summary` (waiting messages),
    /// feature status and the `ccs-profile`.
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
    /// The subscriptions to the presence of others. The subscription to the user's own presence belongs to
    /// ``subscriptions``.
    case presenceSubscription
    /// The publication of the user's presence.
    case presencePublish
    /// The services over HTTP requests: contacts, history, configuration.
    case httpServices

    /// The possible levels of the service. Others are refused in a ``ServiceLevelOverride``.
    public var possibleLevels: [ServiceLevel] {
        switch self {
        case .registration, .subscriptions, .presenceSubscription, .httpServices: [.normal, .none]
        case .outgoingCall, .incomingCall, .heldCall, .remotelyHeldCall: [.normal, .signalingOnly, .none]
        case .activeCall: [.normal]
        case .presencePublish: [.normal, .limited, .none]
        }
    }

    /// True if the service has media, which a cellular call takes away (contract P3).
    public var hasMedia: Bool {
        switch self {
        case .outgoingCall, .incomingCall, .activeCall, .heldCall, .remotelyHeldCall: true
        case .registration, .subscriptions, .presenceSubscription, .presencePublish, .httpServices: false
        }
    }
}

/// The circumstances that decide the level of a service, beside the table.
///
/// Source: contract P1, P3.
public struct ServiceConditions: Hashable, Sendable {
    /// The state of the application.
    public var application: ApplicationState
    /// True while the telephone of the device is in a call, which takes media away from all other calls.
    public var hasCellularCall: Bool
    /// True if there is an active call beside the evaluated one.
    public var hasOtherActiveCall: Bool

    public init(_ application: ApplicationState, hasCellularCall: Bool = false, hasOtherActiveCall: Bool = false) {
        self.application = application
        self.hasCellularCall = hasCellularCall
        self.hasOtherActiveCall = hasOtherActiveCall
    }
}

/// The state of an application, as the user and the system set it.
///
/// Source: contract P2.
public enum ApplicationState: String, CaseIterable, Hashable, Sendable, Codable {
    /// The application is in front of its user.
    case foreground
    /// The application runs, but is not in the foreground.
    case background
    /// The application does not run until it is woken.
    case suspended
}
