/// How far an owner is with its core.
///
/// Source: contract C1.
public enum OwnerState: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// It owns, and its core is not up yet.
    case starting = 1
    /// Its core runs.
    case running = 2
    /// Its core is being stopped; release follows.
    case stopping = 3

    public var description: String {
        switch self {
        case .starting: "starting"
        case .running: "running"
        case .stopping: "stopping"
        }
    }
}
