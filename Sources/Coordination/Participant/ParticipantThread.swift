internal import Platform

/// The one thread of the process on which all participants run, and nothing else: an owner answers its challenges even
/// while the application's own tasks hold every thread of the cooperative pool.
///
/// It is the executor of their actors, and the one that their tasks prefer. The second matters as much as the first:
/// without a preference, a task that is resumed goes by way of the pool to its actor.
enum ParticipantThread {
    /// The thread, started by whoever asks first.
    static let shared = ThreadExecutor(thread: "sharedcore")
}
