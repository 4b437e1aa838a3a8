internal import CoreAPI
internal import Platform
internal import Synchronization

/// The descriptors that connections over a network may still take, of all hubs of this process together.
///
/// libzmq ends a process that has none left when a connection arrives. So some are never taken, and what is left is
/// counted in `/proc/self/fd` from time to time; between two counts, what is taken and given back is kept account of.
final class DescriptorBudget: Sendable {
    static let shared = DescriptorBudget()

    /// Descriptors that stay free for everything else.
    private static let reserve = 64

    private let left = Atomic(0)

    private init() {}

    /// Counts anew.
    func count() {
        let used = (try? Directory(path: "/proc/self/fd").names().count) ?? 0
        left.store(SpareDescriptors.limit - used - Self.reserve, ordering: .sequentiallyConsistent)
    }

    /// Takes so many.
    ///
    /// - Returns: Whether there are so many; otherwise nothing is taken.
    func take(_ count: Int) -> Bool {
        if left.subtract(count, ordering: .sequentiallyConsistent).newValue >= 0 { return true }
        giveBack(count)
        return false
    }

    func giveBack(_ count: Int) { left.add(count, ordering: .sequentiallyConsistent) }
}
