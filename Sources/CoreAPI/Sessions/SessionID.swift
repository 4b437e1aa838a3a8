/// The identity of one participation in a group, never used twice in it: the revision at which the session began.
public struct SessionID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }

    public static func < (left: SessionID, right: SessionID) -> Bool {
        left.rawValue < right.rawValue
    }
}
