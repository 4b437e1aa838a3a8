public import CoreAPI
internal import Synchronization

/// A clock that stands still until a test moves it.
///
/// ``advance(by:)`` moves the time and then wakes exactly the sleepers that are due, in the order of their instants. A
/// test that advances must first know that the task to be woken is asleep: wait for ``sleeperCount`` or ``nextWake``
/// with `eventually`.
public final class ManualClock: TimeSource {
    private struct Sleeper {
        let id: WaitID
        let instant: BootInstant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var bootID: BootID
        var now: BootInstant
        var sleepers: [Sleeper] = []
    }

    private let state: Mutex<State>

    /// Makes a clock of a first boot of the machine, one hour after its start.
    public init(startingAt now: BootInstant = BootInstant(nanoseconds: 3_600_000_000_000)) {
        state = Mutex(State(bootID: BootID(high: 0x5ead, low: 1), now: now))
    }

    public var bootID: BootID { state.withLock(\.bootID) }

    public func now() -> BootInstant { state.withLock(\.now) }

    /// How many tasks sleep by this clock.
    public var sleeperCount: Int { state.withLock(\.sleepers.count) }

    /// The instant at which the first sleeper wakes; nil when no task sleeps.
    public var nextWake: BootInstant? { state.withLock { state in state.sleepers.map(\.instant).min() } }

    /// Moves the time and wakes the sleepers that are due. Time does not go back: the duration must not be negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "Time does not go back.")
        move { $0.advanced(by: duration) }
    }

    /// Moves the time to an instant and wakes the sleepers that are due. A past instant changes nothing.
    public func advance(to instant: BootInstant) {
        move { max($0, instant) }
    }

    private func move(_ change: (BootInstant) -> BootInstant) {
        let due = state.withLock { state in
            state.now = change(state.now)
            return Self.takeDue(from: &state)
        }
        for sleeper in due { sleeper.continuation.resume(returning: true) }
    }

    /// Simulates a restart of the machine: a new boot id, and a time that counts from zero again.
    ///
    /// Sleepers continue to sleep for the rest of their time.
    public func reboot(now: Duration = .seconds(1)) {
        state.withLock { state in
            let old = state.now
            state.bootID = BootID(high: state.bootID.high, low: state.bootID.low + 1)
            state.now = BootInstant(nanoseconds: now.clampedNanoseconds)
            state.sleepers = state.sleepers.map { sleeper in
                Sleeper(
                    id: sleeper.id, instant: state.now.advanced(by: old.duration(to: sleeper.instant)),
                    continuation: sleeper.continuation)
            }
        }
    }

    public func sleep(until instant: BootInstant) async throws(CancellationError) {
        let id = WaitID()
        let slept = await withCancellableContinuation(cancelled: false) { continuation in
            state.withLock { state in
                guard instant > state.now else { return true }
                state.sleepers.append(Sleeper(id: id, instant: instant, continuation: continuation))
                return nil
            }
        } leave: {
            state.withLock { state in
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0).continuation }
            }
        }
        guard slept else { throw CancellationError() }
    }

    private static func takeDue(from state: inout State) -> [Sleeper] {
        let due = state.sleepers.filter { $0.instant <= state.now }
        state.sleepers.removeAll { $0.instant <= state.now }
        return due.sorted { ($0.instant, $0.id) < ($1.instant, $1.id) }
    }
}
