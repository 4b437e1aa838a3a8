internal import CoreAPI
internal import Synchronization

/// About how many pushes are kept: those that were counted, and what this process has done since. Who counted all of them
/// for each one that comes would take longer with each, and most of all in a flood.
final class PushRoom: Sendable {
    private struct State {
        var count = 0
        var nextCount: BootInstant?
    }

    private let state = Mutex(State())

    /// How long a count holds at least, for what others do meanwhile.
    private static let interval = Duration.seconds(1)
    /// A long queue takes long to count, which must not be most of what is done.
    private static let share = 20

    func mustCount(at now: BootInstant) -> Bool {
        state.withLock { state in state.nextCount.map { $0 <= now } ?? true }
    }

    /// So many are there.
    func counted(_ count: Int, from start: BootInstant, to end: BootInstant) {
        let next = end.advanced(by: max(Self.interval, start.duration(to: end) * Self.share))
        state.withLock { $0 = State(count: count, nextCount: next) }
    }

    /// Takes room for one more.
    ///
    /// - Returns: Nil when it is taken; how many there are when there is none.
    func take(of capacity: Int) -> Int? {
        state.withLock { state in
            guard state.count < capacity else { return state.count }
            state.count += 1
            return nil
        }
    }

    /// One has gone.
    func free() {
        state.withLock { $0.count -= 1 }
    }
}
