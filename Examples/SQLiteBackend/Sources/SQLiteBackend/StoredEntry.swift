internal import CoreAPI
internal import FoundationEssentials
internal import GRDB

/// An entry as a row has it.
struct StoredEntry {
    let entry: Entry
    /// When it is due to expire, in nanoseconds of the machine's run.
    let due: UInt64?

    /// Reads a row of the table of entries.
    init(_ row: Row) throws {
        let key: Data = row["key"]
        let due: Int64? = row["due"]
        entry = Entry(
            key: try Key(String(decoding: key, as: UTF8.self)), value: Self.bytes(row["value"]),
            revision: Revision(rawValue: UInt64(stored: row["revision"])),
            creationRevision: Revision(rawValue: UInt64(stored: row["creation"])),
            lifetime: Self.lifetime(row["lifetime"], row["duration"]),
            origin: SessionID(rawValue: UInt64(stored: row["origin"])))
        self.due = due.map(UInt64.init(stored:))
    }

    /// Reads one side, `old` or `new`, of a row of the table of changes; nil when nothing stood there.
    static func side(_ side: String, of row: Row, key: Key) -> Entry? {
        guard let value: Data = row[side + "Value"] else { return nil }
        return Entry(
            key: key, value: Array(value), revision: Revision(rawValue: UInt64(stored: row[side + "Revision"])),
            creationRevision: Revision(rawValue: UInt64(stored: row[side + "Creation"])),
            lifetime: lifetime(row[side + "Lifetime"], row[side + "Duration"]),
            origin: SessionID(rawValue: UInt64(stored: row[side + "Origin"])))
    }

    /// The columns of one side of a change: value, revision, creation, lifetime, duration, origin.
    static func columns(_ entry: Entry?) -> [(any DatabaseValueConvertible)?] {
        guard let entry else { return [nil, nil, nil, nil, nil, nil] }
        let (lifetime, duration) = columns(entry.lifetime)
        return [
            Data(entry.value), entry.revision.rawValue.stored, entry.creationRevision.rawValue.stored, lifetime,
            duration,
            entry.origin.rawValue.stored,
        ]
    }

    static func columns(_ lifetime: Lifetime) -> (Int64, Int64) {
        switch lifetime {
        case .persistent: (0, 0)
        case .session: (1, 0)
        case .expiring(let duration): (2, duration.wholeNanoseconds)
        }
    }

    private static func lifetime(_ number: Int64, _ duration: Int64) -> Lifetime {
        switch number {
        case 0: .persistent
        case 1: .session
        default: .expiring(after: .nanoseconds(duration))
        }
    }

    private static func bytes(_ data: Data) -> [UInt8] { Array(data) }
}
