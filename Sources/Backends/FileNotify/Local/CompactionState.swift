internal import Platform
internal import Synchronization

/// Whether a compaction runs in this process, and the thread that it runs on.
final class CompactionState: Sendable {
    let thread = SerialThread(name: "sc-compact")
    let isRunning = Atomic(false)
    /// Held while a thread of this process compacts.
    let exclusion = Mutex(())
    /// When the group is written anew again, after the disk has refused.
    let retry = Mutex(RetryPause())
    /// How long the log must be for the next try after one that failed; 0 when none has.
    let retryByteCount = Atomic(0)
}
