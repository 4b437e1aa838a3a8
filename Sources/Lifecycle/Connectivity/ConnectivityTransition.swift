public import CoreAPI

/// One entry of the connectivity machine's trace: the event, its changes, the actions, and the reason.
///
/// Source: contract P2.
public struct ConnectivityTransition: Hashable, Sendable, CustomStringConvertible {
    /// The cause of the transition.
    public enum Cause: Hashable, Sendable {
        /// An event happened.
        case event(ConnectivityEvent)
        /// An action was carried out.
        case done(ConnectivityAction, ConnectivityActionResult)
        /// An action could not be carried out, with the reason.
        case failed(ConnectivityAction, String)
        /// An instant for which the machine waited has passed.
        case timePassed
    }

    /// The deciding row of the table; nil for a cell that is not listed, which changes nothing.
    public let number: TransitionNumber?
    /// The position before.
    public let from: LifecyclePosition
    /// The position after.
    public let to: LifecyclePosition
    /// The cause of the transition.
    public let cause: Cause
    /// The time of the transition.
    public let at: BootInstant
    /// The actions of the transition, in order, after the earlier actions that are not done yet.
    public let actions: [OrderedAction]
    /// The actions that the transition has dropped. If the first of all pending actions is among them, it may be
    /// running, and must be cancelled.
    public let dropped: [OrderedAction]
    /// One sentence for people.
    public let reason: String

    /// The event, if that was the cause.
    public var event: ConnectivityEvent? {
        if case .event(let event) = cause { event } else { nil }
    }

    public var description: String {
        let actions = actions.isEmpty ? "" : " → " + actions.map { "\($0.action)" }.joined(separator: ", ")
        return "\(number.map(String.init(describing:)) ?? "–") \(from) → \(to) by \(cause): \(reason)\(actions)"
    }
}

/// The position of the connectivity machine: the application's state and its connectivity.
///
/// Source: contract P2.
public struct LifecyclePosition: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The state of the application.
    public var application: ApplicationState
    /// The state of the application's connection.
    public var connectivity: Connectivity

    public init(_ application: ApplicationState, _ connectivity: Connectivity) {
        self.application = application
        self.connectivity = connectivity
    }

    /// All six positions.
    public static let all = ApplicationState.allCases.flatMap { application in
        Connectivity.allCases.map { LifecyclePosition(application, $0) }
    }

    public var description: String { "\(application), \(connectivity)" }
}

/// The network to the server, as far as the application knows.
///
/// While suspended it is the last known value, and `connected` means that the kept socket is connected.
///
/// Source: contract P2.
public enum Connectivity: String, CaseIterable, Hashable, Sendable, Codable {
    case connected
    case disconnected
}

/// An action with its position in the order of all actions of a machine.
public struct OrderedAction: Hashable, Sendable {
    /// The position, in ascending order.
    public let number: UInt64
    /// The action to carry out.
    public let action: ConnectivityAction
}
