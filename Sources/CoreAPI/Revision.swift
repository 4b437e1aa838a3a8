/// A place in the one order of a store's commits.
///
/// Revisions rise strictly over all keys, deletions and restarts, and are never used twice. They are not dense: a
/// restart after a power loss leaves a gap.
///
/// Source: contract S3.
public struct Revision: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Before the first commit.
    public static let zero = Revision(rawValue: 0)

    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }

    public static func < (left: Revision, right: Revision) -> Bool {
        left.rawValue < right.rawValue
    }
}
