/// How the connection stands after a sleep.
public enum ConnectionCheck: String, CaseIterable, Hashable, Sendable {
    /// The server still answers on it.
    case stands
    /// There is a network, and the connection must be made anew.
    case networkOnly
    /// There is no network.
    case noNetwork
}
