internal import Synchronization

/// What is known of whether the group's files are where it was opened.
final class PlaceCheck: Sendable {
    /// The tick of the clock in which that was looked at last.
    let tick = Atomic<UInt64>(0)
    /// They are not: the group is lost for this process, whatever comes to stand there.
    let isLost = Atomic(false)
}
