/// The entries under a selection of keys as they stood together at one revision.
public struct Snapshot: Hashable, Sendable {
    /// Every commit up to and with this one is reflected.
    public let revision: Revision
    /// The entries in the order of their keys' bytes.
    public let entries: [Entry]

    public init(revision: Revision, entries: [Entry]) {
        self.revision = revision
        self.entries = entries
    }
}
