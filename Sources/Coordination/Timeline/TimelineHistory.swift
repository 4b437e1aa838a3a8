public import CoreAPI

/// The entries of a timeline as they stood together, the oldest first.
public struct TimelineHistory: Hashable, Sendable {
    /// The entries that could be read.
    public let records: [TimelineRecord]
    /// The checkpoint of the entries that were dropped; nil when none were.
    public let checkpoint: TimelineCheckpoint?
    /// Violations by entries that cannot be read, were written twice, or were not written by the participant that they
    /// are about.
    public let damages: [Violation]
    /// The places of all entries, the oldest first.
    let places: [Place]
    /// The last write of the checkpoint.
    let checkpointRevision: Revision?

    /// The key of an entry and the commit that wrote it.
    struct Place: Hashable {
        let key: Key
        let revision: Revision
    }

    /// Makes the history that the entries under ``Timeline/prefix`` show.
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

    /// Makes a history from known records, in their order.
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

extension TimelineHistory {
    /// The epochs whose cores may still run: the ownership was taken over, the core was given up, or the session had a
    /// lease and has ended.
    package var supersededEpochs: Set<Revision> {
        var epochs = Set(checkpoint?.ledger.superseded ?? [])
        var leased = Set([checkpoint?.ledger.owner].compactMap { $0?.hasLease == true ? $0?.epoch : nil })
        for record in records {
            let entry = record.entry
            switch entry.kind {
            case .acquired, .tookOver:
                if let previous = entry.previous,
                    entry.kind == .tookOver || previous.end == .sessionEnded && leased.contains(previous.epoch)
                {
                    epochs.insert(previous.epoch)
                }
                if entry.bound != nil { leased.insert(entry.epoch ?? record.revision) }
            case .coreGivenUp: if let epoch = entry.epoch { epochs.insert(epoch) }
            default: break
            }
        }
        return epochs
    }

    /// Returns the process that acquired an epoch, without its start time; nil if the timeline does not know the epoch.
    package func process(of epoch: Revision) -> ProcessIdentity? {
        let told = records.first { $0.entry.epoch == epoch }
        return told?.entry.process ?? checkpoint?.ledger.cores[epoch]?.process
    }
}

/// An entry at its place in the order of commits.
public struct TimelineRecord: Hashable, Sendable {
    /// The commit that wrote it.
    public let revision: Revision
    /// The entry, with an acquisition's epoch filled in.
    public let entry: TimelineEntry

    package init(revision: Revision, entry: TimelineEntry) {
        var entry = entry
        if entry.kind.isAcquisition, entry.epoch == nil { entry.epoch = revision }
        self.revision = revision
        self.entry = entry
    }

    /// The reason why an entry cannot be read as a record.
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
            return damaged("Session \(entry.origin) wrote an entry about what session \(told.participant) did.")
        }
        return .success(TimelineRecord(revision: entry.creationRevision, entry: told))
    }
}

extension TimelineEntry.Kind {
    /// True if it creates an ownership.
    package var isAcquisition: Bool { self == .acquired || self == .tookOver }
}

/// Sums up the entries that were dropped from a timeline.
public struct TimelineCheckpoint: Hashable, Sendable {
    /// The entries up to and with this commit were dropped.
    public let through: Revision
    /// How many were dropped, since the beginning.
    public let droppedCount: Int
    let ledger: OwnershipLedger

    init(through: Revision, droppedCount: Int, ledger: OwnershipLedger) {
        self.through = through
        self.droppedCount = droppedCount
        self.ledger = ledger
    }

    /// Returns the entry as one sentence for people.
    public func describe() -> String {
        let owner =
            ledger.owner.map {
                "session \($0.participant) (\($0.role)) was the owner then, in state \($0.state), with epoch \($0.epoch)"
            }
            ?? "no participant was the owner then"
        return "\(droppedCount) entries up to revision \(through) were dropped; \(owner)."
    }

    /// Returns the checkpoint as bytes, to be read again by ``init(saved:)``.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(Self.version)
        writer.integer(through.rawValue)
        writer.integer(droppedCount)
        ledger.encode(to: &writer)
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard 1...Self.version ~= version else { throw .malformed }
        through = Revision(rawValue: try reader.integer())
        droppedCount = try reader.tally()
        ledger = try OwnershipLedger(
            from: &reader, knowsProcesses: version >= 2, knowsRestAndBatons: version >= 3, knowsLease: version >= 4)
        try reader.finish()
    }

    /// Reads the bytes of ``encoded()``; nil if they are not valid.
    package init?(saved bytes: [UInt8]) {
        guard let checkpoint = try? TimelineCheckpoint(decoding: bytes) else { return nil }
        self = checkpoint
    }

    /// Version 1 has no processes of cores, version 2 no resting Main and no ended batons, version 3 no lease of the
    /// owner.
    private static let version: UInt8 = 4
}
