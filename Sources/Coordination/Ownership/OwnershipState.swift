/// How far the core of an owner is.
///
/// Source: contract C1.
public enum OwnershipState: String, Hashable, Sendable, CaseIterable {
    /// It connects.
    case starting
    /// It works.
    case running
    /// It disconnects; ownership is released next.
    case stopping
}
