/// Whether there is a network to the server, as far as the application knows.
///
/// While suspended it is what was known last, and `connected` means that the kept socket stands.
///
/// Source: contract P2.
public enum Connectivity: String, CaseIterable, Hashable, Sendable, Codable {
    case connected
    case disconnected
}
