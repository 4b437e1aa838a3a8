public import CoreAPI

/// An entry at its place in the order of commits.
public struct TimelineRecord: Hashable, Sendable {
    /// The commit that wrote it.
    public let revision: Revision
    /// What it tells, with an acquisition's epoch filled in.
    public let entry: TimelineEntry

    package init(revision: Revision, entry: TimelineEntry) {
        var entry = entry
        if entry.kind.isAcquisition, entry.epoch == nil { entry.epoch = revision }
        self.revision = revision
        self.entry = entry
    }

    /// Why an entry is no record.
    struct Damage: Error {
        let violation: Violation
    }

    static func read(_ entry: Entry) -> Result<TimelineRecord, Damage> {
        func damaged(_ sentence: String) -> Result<TimelineRecord, Damage> {
            .failure(Damage(violation: Violation(.c15, at: entry.revision, sentence)))
        }
        guard let told = try? TimelineEntry(decoding: entry.value) else {
            return damaged("The entry \(entry.key) cannot be read.")
        }
        guard entry.revision == entry.creationRevision else {
            return damaged("The entry \(entry.key) was written a second time.")
        }
        guard entry.origin == told.participant else {
            return damaged("Session \(entry.origin) wrote what session \(told.participant) did.")
        }
        return .success(TimelineRecord(revision: entry.creationRevision, entry: told))
    }
}

extension TimelineEntry.Kind {
    /// Whether it creates an ownership.
    var isAcquisition: Bool { self == .acquired || self == .tookOver }
}
