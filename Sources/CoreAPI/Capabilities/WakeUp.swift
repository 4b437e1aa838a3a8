/// How a participant that waits learns that there is more to read. The order is the truth; this only says how it is
/// pointed out, and what that gives up.
///
/// Source: contract N9.
public enum WakeUp: Hashable, Sendable {
    /// By a call within the process: nothing gets lost.
    case direct
    /// By the system's events on files. A poster that is killed before it has woken anybody is noticed at once.
    case fileEvents
    /// By a word of memory that the processes share and sleep at. A poster that is killed before it has woken anybody is
    /// noticed within 10 s, or within 250 ms by whoever waits with a deadline.
    case sharedMemory
    /// By nobody: the participant looks by itself, so it knows that much later.
    case looking(every: Duration)
}
