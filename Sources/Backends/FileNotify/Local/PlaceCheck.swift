internal import CoreAPI
internal import Synchronization

/// What is known of whether the group's files are where it was opened, and whole.
final class PlaceCheck: Sendable {
    /// The tick of the clock in which that was looked at last.
    let tick = Atomic<UInt64>(0)
    /// They are not: the group is lost for this process, whatever comes to stand there. Only with ``loss``.
    let isLost = Atomic(false)
    private let error = Mutex<SharedCoreError?>(nil)

    /// The error that all calls end with since the group is lost; nil while it is not.
    var loss: SharedCoreError? {
        isLost.load(ordering: .acquiring) ? error.withLock { $0 } : nil
    }

    /// Notes that the group is lost.
    ///
    /// - Returns: Whether that was not known; otherwise the first error stays.
    func lose(with error: SharedCoreError) -> Bool {
        self.error.withLock { known in
            guard known == nil else { return false }
            known = error
            isLost.store(true, ordering: .releasing)
            return true
        }
    }
}
