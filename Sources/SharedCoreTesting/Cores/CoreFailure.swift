/// What a scripted core throws when it is to fail.
public struct CoreFailure: Error, Hashable, CustomStringConvertible {
    /// What the test gave as the reason.
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
}
