/// What a Main does when an Executor in another process still owns at the deadline of a hand-over.
///
/// Source: contract C3.
public enum HandoverEnforcement: String, Hashable, Sendable, CaseIterable {
    /// Its process is killed, where that can be done; otherwise it is fenced.
    case kill
    /// It is fenced: none of its writes takes effect any more, but its core may run on until it notices.
    case fence
}
