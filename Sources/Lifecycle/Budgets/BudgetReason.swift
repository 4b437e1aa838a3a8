/// Why an Executor is told to end, or is killed.
public enum BudgetReason: Hashable, Sendable, CustomStringConvertible {
    /// Its time is over, or nearly.
    case time
    /// It has more memory than it may; this much, in bytes.
    case memory(UInt64)
    /// Whoever runs it ends.
    case stop

    /// One word, for programs.
    public var word: String {
        switch self {
        case .time: "time"
        case .memory: "memory"
        case .stop: "stop"
        }
    }

    public var description: String {
        switch self {
        case .time: "its time was over"
        case .memory(let count): "it had \((count + (1 << 20) - 1) >> 20) MiB of memory"
        case .stop: "the host stopped"
        }
    }
}
