/// A store with watches for a participant that sleeps, and that reads by itself at an interval of its own.
package protocol QuietWatching: SharedStore {
    /// Begins a watch as ``SharedStore/watch(_:from:)`` does, for which the store sets no timer: a change whose signal was lost is delivered at
    /// the next read of the handle, and entries that expire are left to other participants.
    func watchQuietly(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch
}
