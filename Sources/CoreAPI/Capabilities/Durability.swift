/// What a commit survives once it has returned.
///
/// Source: contract S10.
public enum Durability: String, Hashable, Sendable, Comparable, CaseIterable {
    /// Nothing beyond this process's memory.
    case memory
    /// The death of any process.
    case process
    /// The loss of power.
    case disk

    public static func < (left: Durability, right: Durability) -> Bool {
        func rank(_ durability: Durability) -> Int {
            switch durability {
            case .memory: 0
            case .process: 1
            case .disk: 2
            }
        }
        return rank(left) < rank(right)
    }
}
