internal import Synchronization

/// Hands out seeds.
final class Counter: Sendable {
    private let next: Atomic<UInt64>

    init(_ first: UInt64) {
        next = Atomic(first)
    }

    func take(_ count: UInt64) -> UInt64 {
        next.add(count, ordering: .relaxed).oldValue
    }
}
