internal import CoreAPI
internal import Platform
internal import Replica
internal import Synchronization

/// What happens when somebody removes or replaces the group's files under this process: it goes on nowhere, because a
/// newcomer would begin a second group in their place.
extension LocalGroup {
    /// Refuses to go on with files that are not where the group was opened. Looks once in a tick of the clock, which is
    /// some milliseconds.
    @inline(__always)
    func requirePlace() throws(SharedCoreError) {
        let tick = SystemClock.tick
        guard place.tick.load(ordering: .relaxed) != tick || place.isLost.load(ordering: .relaxed) else { return }
        place.tick.store(tick, ordering: .relaxed)
        try lookAtPlace()
    }

    /// The same, looking now.
    func lookAtPlace() throws(SharedCoreError) {
        guard place.isLost.load(ordering: .acquiring) || !directory.isInPlace else { return }
        let error = SharedCoreError.lost(directory.directory.path)
        if !place.isLost.exchange(true, ordering: .acquiringAndReleasing) { replica.fail(with: error) }
        throw error
    }
}
