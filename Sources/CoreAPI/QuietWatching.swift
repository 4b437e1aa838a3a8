/// A store that can watch without a timer, for a participant that sleeps and reads at an interval of its own.
package protocol QuietWatching: SharedStore {
    /// Begins a watch as ``SharedStore/watch(_:from:)`` does, without a timer of the store.
    ///
    /// If the signal of a change was lost, the change is delivered at the next read of the handle. Expired entries are
    /// left to other participants.
    func watchQuietly(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch
}
