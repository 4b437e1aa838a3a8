/// What the user and the system let an application do.
///
/// Source: contract P2.
public enum ApplicationState: String, CaseIterable, Hashable, Sendable, Codable {
    /// Its user looks at it.
    case foreground
    /// It runs and nobody looks.
    case background
    /// It does not run until something wakes it.
    case suspended
}
