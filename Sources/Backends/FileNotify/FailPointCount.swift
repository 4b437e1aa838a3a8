internal import Synchronization

/// How often the active fail point was passed.
final class FailPointCount: Sendable {
    private let value = Atomic(0)

    func next() -> Int {
        value.add(1, ordering: .relaxed).newValue
    }
}
