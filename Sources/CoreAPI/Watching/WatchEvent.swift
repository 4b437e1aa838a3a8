/// What a watch delivers.
///
/// Source: contract W1-W3.
public enum WatchEvent: Hashable, Sendable {
    /// The entries as they stand: the start of a watch that asked for them. Changes after its revision follow.
    case snapshot(Snapshot)
    /// The changes of one commit.
    case changes(ChangeSet)
    /// Changes were passed over, because they were compacted away or because the consumer was slow for long. The
    /// snapshot replaces all that was delivered before; changes after its revision follow.
    case lagged(Snapshot)

    /// The revision up to which the consumer knows everything after this event.
    public var revision: Revision {
        switch self {
        case .snapshot(let snapshot), .lagged(let snapshot): snapshot.revision
        case .changes(let changes): changes.revision
        }
    }
}
