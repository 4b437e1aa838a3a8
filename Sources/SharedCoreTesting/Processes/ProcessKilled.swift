/// What ran in a process ended because the process was killed.
public struct ProcessKilled: Error, Hashable, CustomStringConvertible {
    /// The name of the process.
    public let name: String

    public var description: String { "The process “\(name)” was killed." }
}
