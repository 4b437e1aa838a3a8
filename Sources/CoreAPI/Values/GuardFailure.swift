/// Which condition of a transaction did not hold, and what stood there instead.
public struct GuardFailure: Hashable, Sendable {
    /// The position of the first guard that failed.
    public let index: Int
    /// The guard that failed.
    public let condition: Transaction.Guard
    /// The entry under the guard's key at that moment; nil when there is none.
    public let found: Entry?

    public init(index: Int, condition: Transaction.Guard, found: Entry?) {
        self.index = index
        self.condition = condition
        self.found = found
    }
}
