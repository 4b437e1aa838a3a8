package import CoreAPI

/// A value that stands under one of the coordination's own keys: a version byte, then its fields.
package protocol StoredRecord: Hashable, Sendable {
    /// What takes the place of bytes that cannot be read, so that a damaged entry is treated as one that stands there
    /// and can be challenged away.
    static var unreadable: Self { get }

    init(reading reader: inout ByteReader) throws(ByteCodingError)
    func write(into writer: inout ByteWriter)
}

/// The one layout that this program writes and reads.
private let layoutVersion: UInt8 = 1

extension StoredRecord {
    package init(bytes: [UInt8]) {
        do throws(ByteCodingError) {
            var reader = ByteReader(bytes)
            guard try reader.byte() == layoutVersion else { throw .malformed }
            self = try Self(reading: &reader)
            try reader.finish()
        } catch {
            self = .unreadable
        }
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(layoutVersion)
        write(into: &writer)
        return writer.bytes
    }
}
