/// Something that a case needs and that this machine, this build or this harness cannot do.
public struct HarnessLimitation: Error, CustomStringConvertible {
    /// Why not, for people.
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
}
