/// What following a timeline delivers.
public enum TimelineEvent: Hashable, Sendable {
    /// An entry.
    case record(TimelineRecord)
    /// Entries were dropped before they could be delivered; what they added up to.
    case dropped(TimelineCheckpoint)
    /// An entry that cannot be read.
    case damaged(Violation)
}
