package import CoreAPI

/// A value stored under one of the coordination's own keys: a version byte, then its fields.
package protocol StoredRecord: Hashable, Sendable {
    /// The value in place of bytes that cannot be read: a damaged entry exists, and an unanswered challenge
    /// can remove it.
    static var unreadable: Self { get }

    /// The newest layout that this program can read. It also reads all older ones.
    static var newestLayout: UInt8 { get }
    /// The oldest layout that can represent this record's values. The record is written in this layout, so that older
    /// programs can read it.
    var layout: UInt8 { get }

    init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError)
    func write(into writer: inout ByteWriter)
}

extension StoredRecord {
    package static var newestLayout: UInt8 { 1 }
    package var layout: UInt8 { 1 }

    package init(bytes: [UInt8]) {
        do throws(ByteCodingError) {
            var reader = ByteReader(bytes)
            let layout = try reader.byte()
            guard layout >= 1, layout <= Self.newestLayout else { throw .malformed }
            self = try Self(reading: &reader, layout: layout)
            try reader.finish()
        } catch {
            self = .unreadable
        }
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(layout)
        write(into: &writer)
        return writer.bytes
    }
}

/// A record together with its place in the store.
package struct Standing<Record: StoredRecord>: Hashable, Sendable {
    package internal(set) var record: Record
    /// The commit that created the entry: the holder's claim.
    package let claim: Revision
    /// The commit that wrote it last.
    package let revision: Revision
    /// The session that wrote it.
    package let session: SessionID

    package init(_ entry: Entry) {
        record = Record(bytes: entry.value)
        claim = entry.creationRevision
        revision = entry.revision
        session = entry.origin
    }
}

extension ByteWriter {
    mutating func process(_ process: ProcessIdentity) {
        word(process.bootID.high)
        word(process.bootID.low)
        halfWord(UInt32(bitPattern: process.pid))
        integer(process.startTime)
    }

    mutating func duration(_ duration: Duration) {
        integer(duration.clampedNanoseconds)
    }

    mutating func instant(_ instant: BootInstant) {
        integer(instant.nanoseconds)
    }

    mutating func revision(_ revision: Revision) {
        integer(revision.rawValue)
    }
}

extension ByteReader {
    mutating func process() throws(ByteCodingError) -> ProcessIdentity {
        let boot = BootID(high: try word(), low: try word())
        return ProcessIdentity(bootID: boot, pid: Int32(bitPattern: try halfWord()), startTime: try integer())
    }

    mutating func duration() throws(ByteCodingError) -> Duration {
        .nanoseconds(Int64(clamping: try integer()))
    }

    mutating func instant() throws(ByteCodingError) -> BootInstant {
        BootInstant(nanoseconds: try integer())
    }

    mutating func revision() throws(ByteCodingError) -> Revision {
        Revision(rawValue: try integer())
    }
}
