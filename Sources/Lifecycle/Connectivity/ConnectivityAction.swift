/// An action of a transition, which the application's ``ConnectivityDelegate`` carries out.
///
/// Source: contract P2; the table of transitions.
public enum ConnectivityAction: Hashable, Sendable {
    /// Report the loss of the network to every service.
    case tellServices(Connectivity)
    /// Mark the calls as unreachable. Their media is not changed.
    case flagCallsUnavailable
    /// Stop sending and refreshing.
    case suspendSignaling
    /// Fail the requests that wait for an answer.
    case failPendingRequests
    /// Set every service to the level of the table for this state.
    case applyLevels(ApplicationState)

    /// Connect to the server; does nothing if the connection is still up.
    case reconnect
    /// Open a new socket to the server, even if the old one may still work.
    case openNewSocket
    /// Register.
    case register
    /// Subscribe to the events about the user's own account, including the user's own presence.
    case subscribe
    /// Subscribe to the presence of others, and publish the user's presence.
    case restorePresence
    /// Allow HTTP requests again.
    case restoreHTTP
    /// Report the state at the loss of the network, and the present state, to the services and the user.
    case reportLastKnownState
    /// Refresh the registration.
    case refreshRegistration
    /// Refresh the subscriptions.
    case refreshSubscriptions
    /// Check whether the connection is still up; answers with ``ConnectivityActionResult/connection(_:)``.
    case checkConnectivity

    /// Release every lock: a suspended process must not hold locks that others wait for, and an owner with an open
    /// critical section cannot rest (contract C17).
    case giveUpLocks
    /// Transfer the ownership of the core to its holder, and keep the core quiet. Answers with
    /// ``ConnectivityActionResult/ownership(_:)``: `resting`, or `held` if there is no holder. Only after `held` does
    /// ``giveUpOwnership`` follow.
    ///
    /// Source: contract P2; decision 44.
    case rest
    /// Release the ownership of the core: there is no holder for it.
    case giveUpOwnership
    /// Take the ownership of the core back from its holder, before any other work. Does nothing if this process holds
    /// it. Answers with ``ConnectivityActionResult/ownership(_:)``: `held`, or `lost` if the rest had ended.
    ///
    /// Source: contract P2; decision 44.
    case resume
    /// The application is awake, and may acquire the ownership that was given up or lost.
    case mayOwnAgain
    /// Check with ``KeepAlive/prepareForBackground(interval:)`` whether the registrations survive the interval without
    /// a refresh. Answers with ``ConnectivityActionResult/preparation(_:)``. Check at each call, because the answer
    /// changes with time.
    case prepareForBackground(interval: Duration)
    /// Prevent the system from suspending the application; it may own the core again.
    case stayAwake([BackgroundBlocker])
    /// Tell the user that registrations will lapse.
    case warn([BackgroundBlocker])
    /// Ensure that the keep-alive will wake the application: nothing else will.
    case relyOnKeepAlive
    /// Allow the system to suspend the application. Nothing runs until it is woken.
    case allowSuspension

    /// A wake began, with this much time.
    case beginBudget(Duration)
    /// The wake is over in time.
    case endBudget
    /// The time is over: stop the remaining work.
    case stopWork
    /// Read and process the data on the kept socket, completely.
    case processSocketData
    /// Alert the user to the data, if it is for the user.
    case alertUser

    /// Hold the active calls by signaling (contract P3).
    case holdActiveCalls
    /// Stop all media (contract P3).
    case takeMediaAway
    /// Offer to resume the held calls to the user.
    case offerResume

    /// Begin in the background, without building a user interface.
    case relaunchWithoutUserInterface

    /// True if the action needs a network, so that it is dropped when the network is lost.
    public var needsNetwork: Bool {
        switch self {
        case .reconnect, .openNewSocket, .register, .subscribe, .restorePresence, .restoreHTTP, .reportLastKnownState,
            .refreshRegistration, .refreshSubscriptions, .checkConnectivity:
            true
        case .tellServices, .flagCallsUnavailable, .suspendSignaling, .failPendingRequests, .applyLevels,
            .giveUpLocks, .rest, .giveUpOwnership, .resume, .mayOwnAgain, .prepareForBackground, .stayAwake, .warn,
            .relyOnKeepAlive, .allowSuspension,
            .beginBudget, .endBudget, .stopWork, .processSocketData, .alertUser, .holdActiveCalls, .takeMediaAway,
            .offerResume, .relaunchWithoutUserInterface:
            false
        }
    }

    /// True if the action must be done even after the time of a wake is over.
    var outlivesWake: Bool {
        switch self {
        case .tellServices, .flagCallsUnavailable, .suspendSignaling, .failPendingRequests, .applyLevels, .warn,
            .holdActiveCalls, .takeMediaAway, .offerResume, .relaunchWithoutUserInterface:
            true
        case .reconnect, .openNewSocket, .register, .subscribe, .restorePresence, .restoreHTTP, .reportLastKnownState,
            .refreshRegistration, .refreshSubscriptions, .checkConnectivity, .giveUpLocks, .rest, .giveUpOwnership,
            .resume, .mayOwnAgain, .prepareForBackground, .stayAwake, .relyOnKeepAlive, .allowSuspension, .beginBudget,
            .endBudget, .stopWork,
            .processSocketData, .alertUser:
            false
        }
    }

    /// The actions, in order, after which an application holds neither locks nor the ownership, and may be suspended.
    static let lettingGo: [ConnectivityAction] = [.giveUpLocks, .rest, .giveUpOwnership]
}

/// An event in the life of an application and its connection.
///
/// Source: contract P2.
public enum ConnectivityEvent: Hashable, Sendable {
    /// The network was lost.
    case networkLost
    /// A network is available again.
    case networkBack
    /// The connection to the server was lost although there is a network.
    case connectionLost
    /// The application left the foreground.
    case toBackground
    /// The application is in the foreground again.
    case toForeground
    /// The system is about to suspend the application, which will be woken after the interval at the latest.
    case suspendedBySystem(interval: Duration)
    /// Data arrived on the kept socket.
    case dataOnKeptSocket
    /// The keep-alive is due.
    case keepAlive
    /// The telephone of the device is in a call.
    case cellularCallBegan
    /// The cellular call is over.
    case cellularCallEnded
    /// The process is new, because its predecessor was killed or the machine was restarted. The value says whether
    /// there is a network.
    case killedOrRebooted(finds: Connectivity)
    /// A call of the application has media from now on.
    case activeCallBegan
    /// An active call is over.
    case activeCallEnded
    /// The time of a wake is over, as reported by the enforcing process. The machine checks the time itself, too.
    case budgetOver

    /// An event without its values.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case networkLost, networkBack, connectionLost, toBackground, toForeground, suspendedBySystem, dataOnKeptSocket,
            keepAlive
        case cellularCallBegan, cellularCallEnded, killedOrRebooted, activeCallBegan, activeCallEnded, budgetOver
    }

    /// The kind of the event.
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
