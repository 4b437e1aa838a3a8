/// An event in the life of an application and its connection.
///
/// Source: contract P2.
public enum ConnectivityEvent: Hashable, Sendable {
    /// There is no network any more.
    case networkLost
    /// There is a network again.
    case networkBack
    /// The connection to the server is gone although the network is there.
    case connectionLost
    /// The user does not look any more.
    case toBackground
    /// The user looks again.
    case toForeground
    /// The system is about to suspend the application, which will be woken after the interval at the latest.
    case suspendedBySystem(interval: Duration)
    /// Bytes came on the kept socket.
    case dataOnKeptSocket
    /// The keep-alive is due.
    case keepAlive
    /// The telephone of the device is in a call.
    case cellularCallBegan
    /// That call is over.
    case cellularCallEnded
    /// The process is a new one: its predecessor was killed, or the machine was started anew. It finds a network or not.
    case killedOrRebooted(finds: Connectivity)
    /// A call of the application has media from now on.
    case activeCallBegan
    /// One of these calls is over.
    case activeCallEnded
    /// The time of a wake is over, as the enforcing process says. The machine watches the time itself, too.
    case budgetOver

    /// An event without what goes with it.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case networkLost, networkBack, connectionLost, toBackground, toForeground, suspendedBySystem, dataOnKeptSocket,
            keepAlive
        case cellularCallBegan, cellularCallEnded, killedOrRebooted, activeCallBegan, activeCallEnded, budgetOver
    }

    /// Which kind it is.
    public var kind: Kind {
        switch self {
        case .networkLost: .networkLost
        case .networkBack: .networkBack
        case .connectionLost: .connectionLost
        case .toBackground: .toBackground
        case .toForeground: .toForeground
        case .suspendedBySystem: .suspendedBySystem
        case .dataOnKeptSocket: .dataOnKeptSocket
        case .keepAlive: .keepAlive
        case .cellularCallBegan: .cellularCallBegan
        case .cellularCallEnded: .cellularCallEnded
        case .killedOrRebooted: .killedOrRebooted
        case .activeCallBegan: .activeCallBegan
        case .activeCallEnded: .activeCallEnded
        case .budgetOver: .budgetOver
        }
    }
}
