internal import CoreAPI
internal import Platform
internal import Synchronization

/// The descriptors that connections over a network may still take, for all hubs of this process together.
///
/// libzmq aborts a process that has none left when a connection arrives. So some are reserved, and the rest is counted
/// in `/proc/self/fd` from time to time; between two counts, descriptors taken and returned are added up.
final class DescriptorBudget: Sendable {
    static let shared = DescriptorBudget()

    /// Descriptors reserved for everything else.
    private static let reserve = 64

    private let left = Atomic(0)

    private init() {}

    /// Counts the free descriptors again.
    func count() {
        let used = (try? Directory(path: "/proc/self/fd").names().count) ?? 0
        left.store(SpareDescriptors.limit - used - Self.reserve, ordering: .sequentiallyConsistent)
    }

    /// Takes a number of descriptors.
    ///
    /// - Returns: Whether as many are free; otherwise none is taken.
    func take(_ count: Int) -> Bool {
        if left.subtract(count, ordering: .sequentiallyConsistent).newValue >= 0 { return true }
        giveBack(count)
        return false
    }

    func giveBack(_ count: Int) { left.add(count, ordering: .sequentiallyConsistent) }
}
