public import CoreAPI

/// The sum of the entries that were dropped from a timeline.
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

    /// One sentence for people.
    public func describe() -> String {
        let owner =
            ledger.owner.map { "session \($0.participant) (\($0.role)) owned then, \($0.state), as epoch \($0.epoch)" }
            ?? "nobody owned then"
        return "\(droppedCount) entries up to revision \(through) were dropped; \(owner)."
    }

    /// The checkpoint as bytes, to be read again by ``init(saved:)``.
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
        droppedCount = Int(clamping: try reader.integer())
        ledger = try OwnershipLedger(from: &reader, knowsProcesses: version >= 2)
        try reader.finish()
    }

    /// The checkpoint that ``encoded()`` gave; nil for bytes that say nothing.
    package init?(saved bytes: [UInt8]) {
        guard let checkpoint = try? TimelineCheckpoint(decoding: bytes) else { return nil }
        self = checkpoint
    }

    /// Version 1 did not say in which process a core runs.
    private static let version: UInt8 = 2
}
