public import CoreAPI

/// A value in a replica: its bytes, or where they lie.
public enum StoredValue: Sendable {
    case inline([UInt8])
    /// With the checksum of the bytes, because a source may lose them.
    case external(any ValueSource, offset: UInt64, count: Int, checksum: UInt64)

    /// The size of the value in bytes, wherever it lies.
    public var count: Int {
        switch self {
        case .inline(let bytes): bytes.count
        case .external(_, _, let count, _): count
        }
    }

    /// Whether the bytes lie elsewhere.
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
    /// - Throws: ``SharedCoreError/Code/corrupt`` when the source has other bytes by now: a journal that was replaced has
    ///   given its space back, or the disk has lost them.
    public func bytes() throws(SharedCoreError) -> [UInt8] {
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
