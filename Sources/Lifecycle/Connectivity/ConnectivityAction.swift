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

    /// Give up the ownership of the core and every lock: a process that does not run must not hold what others wait for.
    case giveUpOwnershipAndLocks
    /// The application is awake again, and may own the core again.
    case mayOwnAgain
    /// Find out whether the registrations survive that long without a refresh, ``KeepAlive/prepareForBackground(interval:)``;
    /// answers with ``ConnectivityActionResult/preparation(_:)``. Ask every time.
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
    /// The time is over: stop what still runs.
    case stopWork
    /// Read and process what came on the kept socket, completely.
    case processSocketData
    /// Alert the user to what came, if it is for the user.
    case alertUser

    /// Hold the active calls by signaling (contract P3).
    case holdActiveCalls
    /// Let no media flow (contract P3).
    case takeMediaAway
    /// Offer the user to resume what was held.
    case offerResume

    /// Begin in the background, without building a user interface.
    case relaunchWithoutUserInterface

    /// Whether it is in vain without a network, so that it is dropped when the network is lost.
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
