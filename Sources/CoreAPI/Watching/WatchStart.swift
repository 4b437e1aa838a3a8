/// Where a watch begins.
public enum WatchStart: Hashable, Sendable {
    /// With a snapshot of what stands now.
    case snapshot
    /// With the first change after now.
    case now
    /// With the first change after a revision that the caller knows already. When the changes since then are no longer
    /// kept, the watch begins with ``WatchEvent/lagged(_:)``.
    case after(Revision)
}
