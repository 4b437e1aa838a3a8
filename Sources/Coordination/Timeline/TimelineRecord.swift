public import CoreAPI

/// An entry at its place in the order of commits.
public struct TimelineRecord: Hashable, Sendable {
    /// The commit that wrote it.
    public let revision: Revision
    /// What it tells, with an acquisition's epoch filled in.
    public let entry: TimelineEntry

    init(revision: Revision, entry: TimelineEntry) {
        var entry = entry
        if entry.kind.isAcquisition, entry.epoch == nil { entry.epoch = revision }
        self.revision = revision
        self.entry = entry
    }
}

extension TimelineEntry.Kind {
    /// Whether it creates an ownership.
    var isAcquisition: Bool { self == .acquired || self == .tookOver }
}
