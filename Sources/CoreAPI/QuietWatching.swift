/// A store that can watch without a timer. A Main that rests uses such a watch, because each timer would wake its
/// process; it reads the store at its own interval.
package protocol QuietWatching: SharedStore {
    /// Begins a watch as ``SharedStore/watch(_:from:)`` does, without a timer of the store.
    ///
    /// If the signal of a change is lost, the watch delivers the change at the next read through this handle. Expired
    /// entries are left to other participants.
    func watchQuietly(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch
}
