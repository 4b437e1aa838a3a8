package import CoreAPI

/// A value in a replica: its bytes, or a reference to them.
package enum StoredValue: Sendable {
    case inline([UInt8])
    /// A reference, with the checksum of the bytes, because a source may lose them.
    case external(any ValueSource, offset: UInt64, count: Int, checksum: UInt64)

    /// The size of the value in bytes, inline or external.
    package var count: Int {
        switch self {
        case .inline(let bytes): bytes.count
        case .external(_, _, let count, _): count
        }
    }

    /// True if the bytes are external.
    var isExternal: Bool {
        if case .external = self { true } else { false }
    }

    var canBeFetched: Bool {
        !isExternal || (try? bytes()) != nil
    }

    /// The bytes that this replica holds in memory for the value.
    var residentByteCount: Int {
        switch self {
        case .inline(let bytes): bytes.count
        case .external: 0
        }
    }

    /// Fetches the bytes.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt`` when the source has other bytes by now: a replaced journal has freed
    ///   its space, or the disk has lost them.
    package func bytes() throws(SharedCoreError) -> [UInt8] {
        switch self {
        case .inline(let bytes): return bytes
        case .external(let source, let offset, let count, let checksum):
            let bytes = try source.bytes(at: offset, count: count)
            guard bytes.withUnsafeBytes(Checksum.init(of:)).value == checksum else {
                throw SharedCoreError(.corrupt, "The bytes of a value have changed.", at: "journal value")
            }
            return bytes
        }
    }
}

/// A source of values that are too large to keep in every replica's memory, such as a journal file.
///
/// The values that refer to a source keep it alive, so a replaced file can be read until no value refers to it.
package protocol ValueSource: AnyObject, Sendable {
    /// Reads `count` bytes from `offset` on.
    func bytes(at offset: UInt64, count: Int) throws(SharedCoreError) -> [UInt8]
}

/// Tells a decoder which values to leave in their source instead of keeping their bytes.
package struct ExternalValues: Sendable {
    /// The default threshold: a larger value stays in its source.
    package static let defaultThreshold = 4 << 10

    /// The source of the decoded bytes.
    let source: any ValueSource
    /// The offset of the first decoded byte in the source.
    let offset: UInt64
    /// A value with more bytes stays in the source.
    let threshold: Int

    package init(source: any ValueSource, offset: UInt64, threshold: Int = ExternalValues.defaultThreshold) {
        self.source = source
        self.offset = offset
        self.threshold = threshold
    }
}

/// The entry of a key in a replica.
package struct StoredEntry: Sendable {
    package let value: StoredValue
    package let revision: Revision
    package let creationRevision: Revision
    package let lifetime: Lifetime
    package let origin: SessionID
    /// The time at which an expiring entry expires, in the present boot of the machine.
    package let expiry: BootInstant?

    package init(
        value: StoredValue, revision: Revision, creationRevision: Revision, lifetime: Lifetime, origin: SessionID,
        expiry: BootInstant?
    ) {
        self.value = value
        self.revision = revision
        self.creationRevision = creationRevision
        self.lifetime = lifetime
        self.origin = origin
        self.expiry = expiry
    }

    /// Returns the entry with its bytes, for users.
    package consuming func entry(for key: Key) throws(SharedCoreError) -> Entry {
        Entry(
            key: key, value: try value.bytes(), revision: revision, creationRevision: creationRevision,
            lifetime: lifetime, origin: origin)
    }
}
