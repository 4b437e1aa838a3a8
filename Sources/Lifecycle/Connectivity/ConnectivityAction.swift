/// One thing that a transition wants done, by the application's ``ConnectivityDelegate``.
///
/// Source: contract P2; the table of transitions.
public enum ConnectivityAction: Hashable, Sendable {
    /// Tell every service that the network is gone.
    case tellServices(Connectivity)
    /// Mark the calls as out of reach. Their media is not touched.
    case flagCallsUnavailable
    /// Stop sending and refreshing.
    case suspendSignaling
    /// End the requests that wait for an answer with a failure.
    case failPendingRequests
    /// Give every service the level that the table has for this state.
    case applyLevels(ApplicationState)

    /// Connect to the server; nothing to do where the connection still stands.
    case reconnect
    /// Make a new socket to the server, also where the old one may still work.
    case openNewSocket
    /// Register.
    case register
    /// Subscribe to the events about oneself, one's own presence among them.
    case subscribe
    /// Subscribe to the presence of others and publish one's own.
    case restorePresence
    /// Let HTTP requests through again.
    case restoreHTTP
    /// Tell the services and the user how things stood when the network was lost, and how they stand now.
    case reportLastKnownState
    /// Refresh the registration.
    case refreshRegistration
    /// Refresh the subscriptions.
    case refreshSubscriptions
    /// Find out whether the connection still stands; answers with ``ConnectivityActionResult/connection(_:)``.
    case checkConnectivity

    /// Give up the ownership of the core and every lock: a suspended process must not hold locks that others wait for.
    case giveUpOwnershipAndLocks
    /// The application is awake again, and may own the core again.
    case mayOwnAgain
    /// Find out whether the registrations survive that long without a refresh,
    /// ``KeepAlive/prepareForBackground(interval:)``; answers with ``ConnectivityActionResult/preparation(_:)``. Ask
    /// every time.
    case prepareForBackground(interval: Duration)
    /// Keep the system from suspending the application; it may own the core again.
    case stayAwake([BackgroundBlocker])
    /// Tell the user that registrations will lapse.
    case warn([BackgroundBlocker])
    /// Make sure that the keep-alive will wake the application: nothing else will.
    case relyOnKeepAlive
    /// Let the system suspend the application. Nothing more runs until it is woken.
    case allowSuspension

    /// A wake began: so much time there is.
    case beginBudget(Duration)
    /// The wake is over in time.
    case endBudget
    /// The time is over: stop the work that still runs.
    case stopWork
    /// Read and process the data on the kept socket, completely.
    case processSocketData
    /// Alert the user to the data, if it is for the user.
    case alertUser

    /// Hold the active calls by signaling (contract P3).
    case holdActiveCalls
    /// Let no media flow (contract P3).
    case takeMediaAway
    /// Offer the user to resume the held calls.
    case offerResume

    /// Begin in the background, without building a user interface.
    case relaunchWithoutUserInterface

    /// Whether it needs a network, so that it is dropped when the network is lost.
    public var needsNetwork: Bool {
        switch self {
        case .reconnect, .openNewSocket, .register, .subscribe, .restorePresence, .restoreHTTP, .reportLastKnownState,
            .refreshRegistration, .refreshSubscriptions, .checkConnectivity:
            true
        case .tellServices, .flagCallsUnavailable, .suspendSignaling, .failPendingRequests, .applyLevels,
            .giveUpOwnershipAndLocks, .mayOwnAgain, .prepareForBackground, .stayAwake, .warn, .relyOnKeepAlive,
            .allowSuspension,
            .beginBudget, .endBudget, .stopWork, .processSocketData, .alertUser, .holdActiveCalls, .takeMediaAway,
            .offerResume, .relaunchWithoutUserInterface:
            false
        }
    }

    /// Whether it still has to be done when the time of a wake is over.
    var outlivesWake: Bool {
        switch self {
        case .tellServices, .flagCallsUnavailable, .suspendSignaling, .failPendingRequests, .applyLevels, .warn,
            .holdActiveCalls, .takeMediaAway, .offerResume, .relaunchWithoutUserInterface:
            true
        case .reconnect, .openNewSocket, .register, .subscribe, .restorePresence, .restoreHTTP, .reportLastKnownState,
            .refreshRegistration, .refreshSubscriptions, .checkConnectivity, .giveUpOwnershipAndLocks,
            .mayOwnAgain, .prepareForBackground, .stayAwake, .relyOnKeepAlive, .allowSuspension, .beginBudget,
            .endBudget, .stopWork,
            .processSocketData, .alertUser:
            false
        }
    }
}

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
    /// The application left the foreground.
    case toBackground
    /// The application is in the foreground again.
    case toForeground
    /// The system is about to suspend the application, which will be woken after the interval at the latest.
    case suspendedBySystem(interval: Duration)
    /// Bytes came on the kept socket.
    case dataOnKeptSocket
    /// The keep-alive is due.
    case keepAlive
    /// The telephone of the device is in a call.
    case cellularCallBegan
    /// The cellular call is over.
    case cellularCallEnded
    /// The process is a new one: its predecessor was killed, or the machine was started anew. It finds a network or
    /// not.
    case killedOrRebooted(finds: Connectivity)
    /// A call of the application has media from now on.
    case activeCallBegan
    /// One of these calls is over.
    case activeCallEnded
    /// The time of a wake is over, as the enforcing process says. The machine watches the time itself, too.
    case budgetOver

    /// An event without its values.
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
