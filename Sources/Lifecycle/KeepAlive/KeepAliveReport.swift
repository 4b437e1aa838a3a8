/// How a call of a keep-alive handler went.
public struct KeepAliveReport: Hashable, Sendable {
    /// How it ended.
    public enum Outcome: Hashable, Sendable {
        /// In time.
        case finished
        /// With an error, whose text this is.
        case failed(String)
        /// By its budget.
        case cutOff
    }

    /// The call.
    public let run: KeepAliveRun
    /// How it ended.
    public let outcome: Outcome
}
