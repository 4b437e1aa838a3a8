package import CoreAPI

/// The entries of a timeline as they stood together, the oldest first.
public struct TimelineHistory: Hashable, Sendable {
    /// The entries that could be read.
    public let records: [TimelineRecord]
    /// What is left of those that were dropped; nil when none were.
    public let checkpoint: TimelineCheckpoint?
    /// Entries that cannot be read, were written twice, or not by whom they tell of.
    public let damages: [Violation]
    /// Where all entries stand, the oldest first.
    let places: [Place]
    /// The last write of the checkpoint.
    let checkpointRevision: Revision?

    /// The key of an entry and the commit that wrote it.
    struct Place: Hashable {
        let key: Key
        let revision: Revision
    }

    /// The history that the entries under ``Timeline/prefix`` show.
    package init(_ snapshot: Snapshot) {
        var records: [(key: Key, record: TimelineRecord)] = []
        var damages: [Violation] = []
        var places: [Place] = []
        var checkpoint: TimelineCheckpoint?
        var checkpointRevision: Revision?
        for entry in snapshot.entries where Timeline.prefix.contains(entry.key) {
            guard entry.key != Timeline.checkpointKey else {
                checkpointRevision = entry.revision
                checkpoint = try? TimelineCheckpoint(decoding: entry.value)
                if checkpoint == nil {
                    damages.append(Violation(.c15, at: entry.revision, "The checkpoint cannot be read."))
                }
                continue
            }
            places.append(Place(key: entry.key, revision: entry.creationRevision))
            switch TimelineRecord.read(entry) {
            case .success(let record): records.append((entry.key, record))
            case .failure(let damage): damages.append(damage.violation)
            }
        }
        self.records = records.sorted { ($0.record.revision, $0.key) < ($1.record.revision, $1.key) }.map(\.record)
        self.places = places.sorted { ($0.revision, $0.key) < ($1.revision, $1.key) }
        self.damages = damages
        self.checkpoint = checkpoint
        self.checkpointRevision = checkpointRevision
    }

    /// A history of records that are known already, in their order.
    package init(
        records: [TimelineRecord], checkpoint: TimelineCheckpoint? = nil, damages: [Violation] = []
    ) {
        self.records = records
        self.checkpoint = checkpoint
        self.damages = damages
        places = []
        checkpointRevision = nil
    }
}
