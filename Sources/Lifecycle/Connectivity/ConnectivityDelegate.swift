/// The application's side of the connectivity machine: carries out the actions of a transition.
///
/// ```swift
/// struct Telephone: ConnectivityDelegate {
///     func carryOut(_ action: ConnectivityAction) async throws -> ConnectivityActionResult {
///         switch action {
///         case .register: try await client.register()
///         case .checkConnectivity: return .connection(await client.check())
///         …
///         }
///         return .done
///     }
/// }
/// ```
///
/// The runner calls it for one action at a time, in the order of the transitions. It must return when the action is
/// done, throw if it cannot be done, and return promptly when its task is cancelled: then the action no longer applies,
/// or its time is over.
public protocol ConnectivityDelegate: Sendable {
    /// Carries out one action.
    func carryOut(_ action: ConnectivityAction) async throws -> ConnectivityActionResult
}

/// The result of an action.
public enum ConnectivityActionResult: Hashable, Sendable {
    /// The action is done.
    case done
    /// The answer to ``ConnectivityAction/prepareForBackground(interval:)``.
    case preparation(BackgroundPreparation)
    /// The answer to ``ConnectivityAction/checkConnectivity``.
    case connection(ConnectionStatus)
    /// The answer to ``ConnectivityAction/rest`` and ``ConnectivityAction/resume``. The answer ``done`` to the former
    /// counts as `resting`, and to the latter as `held`.
    case ownership(CoreOwnership)
}

/// The ownership of the core, as the application knows it.
///
/// Source: contract P2; decision 44.
public enum CoreOwnership: String, CaseIterable, Hashable, Sendable {
    /// The application has it, or may acquire it.
    case held
    /// The holder, another process, has the ownership for the application, which sleeps.
    case resting
    /// The application gave it up for a sleep, without a holder.
    case givenUp
    /// The rest was over before the application resumed: another process may own.
    case lost
}

/// The state of the connection after a sleep.
public enum ConnectionStatus: String, CaseIterable, Hashable, Sendable {
    /// The server still answers on it.
    case stands
    /// There is a network, but the connection must be made again.
    case networkOnly
    /// There is no network.
    case noNetwork
}
