public import CoreAPI

/// A value in a replica: its bytes, or where they lie.
public enum StoredValue: Sendable {
    case inline([UInt8])
    case external(any ValueSource, offset: UInt64, count: Int)

    /// The size of the value in bytes, wherever it lies.
    public var count: Int {
        switch self {
        case .inline(let bytes): bytes.count
        case .external(_, _, let count): count
        }
    }

    /// The bytes that this replica holds in memory for the value.
    var residentByteCount: Int {
        switch self {
        case .inline(let bytes): bytes.count
        case .external: 0
        }
    }

    /// Fetches the bytes.
    public func bytes() throws(SharedCoreError) -> [UInt8] {
        switch self {
        case .inline(let bytes): bytes
        case .external(let source, let offset, let count): try source.bytes(at: offset, count: count)
        }
    }
}
