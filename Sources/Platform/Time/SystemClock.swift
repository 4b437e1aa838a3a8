public import CoreAPI
internal import Glibc
internal import Synchronization

/// The machine's own clock: nanoseconds since boot, including suspension, independent of the wall clock. It is the same
/// in every time namespace.
public struct SystemClock: TimeSource {
    public init() {}

    /// The identity of this boot of the machine.
    public var bootID: BootID { Self.currentBootID }

    public func now() -> BootInstant {
        var time = timespec()
        clock_gettime(Defect.wallClock.isPresent ? CLOCK_REALTIME : CLOCK_BOOTTIME, &time)
        let nanoseconds = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        return BootInstant(nanoseconds: UInt64(clamping: nanoseconds &- TimeNamespace.offset))
    }

    /// The clock's tick, some milliseconds long: cheaper to read than the time, and enough to tell that time has
    /// passed.
    package static var tick: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The wall clock, in whole seconds since 1970.
    package static var secondsSince1970: Int { time(nil) }

    /// The time of CLOCK_MONOTONIC in microseconds, as service managers compare it.
    package static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    public func sleep(until instant: BootInstant) async throws(CancellationError) {
        while true {
            let present = now()
            guard present < instant else { return }
            guard await Self.hasSlept(until: instant, from: present) else { throw CancellationError() }
        }
    }

    private static func hasSlept(until instant: BootInstant, from present: BootInstant) async -> Bool {
        // On a thread that runs its own tasks, that thread waits: otherwise each sleep would wake two.
        if let sleepers = ThreadExecutor.current?.sleepers ?? Sleepers.shared {
            return await sleepers.sleep(until: instant)
        }
        return (try? await Task.sleep(for: present.duration(to: instant), clock: .continuous)) != nil
    }

    /// All zeros if it is unknown, as in a container without /proc.
    static let currentBootID: BootID = {
        let text = OpenFile.text(of: "/proc/sys/kernel/random/boot_id")?.filter(\.isHexDigit)
        return text.flatMap { BootID(hexadecimal: $0) } ?? BootID(high: 0, low: 0)
    }()
}

/// Tasks that sleep on ``SystemClock``, and the timer for the thread that wakes them: that of a ``ThreadExecutor``, or
/// one that lives as long as the process, for the tasks of all other threads.
///
/// Swift's own sleep wakes through the concurrent pool. An application that blocks its threads would delay every
/// deadline, and a program that runs nothing on the pool would be woken once a second by the pool's monitor.
final class Sleepers: Sendable {
    private struct Sleeper {
        let instant: BootInstant
        /// Resumed with whether the time has come; nil until the task waits.
        var continuation: CheckedContinuation<Bool, Never>?
    }

    private struct State {
        var sleepers: [UInt64: Sleeper] = [:]
        var lastNumber: UInt64 = 0
        /// The time at which the timer wakes the thread; nil if it is not set.
        var wake: BootInstant?
    }

    /// Nil while the system has no descriptor or no thread left; the next sleeping task tries again.
    static var shared: Sleepers? {
        started.withLock { started in
            if started == nil, let new = try? Sleepers() {
                guard (try? OwnedThread.start("sc-clock", { new.run() })) != nil else { return nil }
                started = new
            }
            return started
        }
    }

    private static let started = Mutex<Sleepers?>(nil)

    private let state = Mutex(State())
    /// For the thread that wakes the sleepers, which calls ``timerRang()`` then.
    let timer: IntervalTimer

    init() throws(SystemCallError) {
        timer = try IntervalTimer(countsSuspension: true)
    }

    /// Returns at the instant, or when the task is cancelled.
    ///
    /// - Returns: Whether the time has come.
    func sleep(until instant: BootInstant) async -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.sleepers[state.lastNumber] = Sleeper(instant: instant)
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { wait($0, as: number) }
        } onCancel: {
            // It may not wait yet; then it finds its entry removed.
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation?.resume(returning: false)
        }
    }

    private func wait(_ continuation: CheckedContinuation<Bool, Never>, as number: UInt64) {
        let isKnown = state.withLock { state in
            guard let instant = state.sleepers[number]?.instant else { return false }
            state.sleepers[number]?.continuation = continuation
            if state.wake.map({ instant < $0 }) ?? true { set(to: instant, in: &state) }
            return true
        }
        if !isKnown { continuation.resume(returning: false) }
    }

    private func set(to instant: BootInstant, in state: inout State) {
        state.wake = instant
        timer.set(first: SystemClock().now().duration(to: instant), interval: .zero)
    }

    private func run() {
        while true {
            _ = Poll.wait(for: [timer.descriptor], timeout: nil)
            timerRang()
        }
    }

    /// Wakes the sleepers whose time has come.
    func timerRang() {
        timer.clear()
        let due = state.withLock { takeDue(from: &$0) }
        for sleeper in due { sleeper.continuation?.resume(returning: true) }
    }

    /// Wakes the sleepers that are due, for a thread that has jobs all the time and does not wait for the timer.
    func wakeDue() {
        let isDue = state.withLock { state in state.wake.map { $0 <= SystemClock().now() } ?? false }
        if isDue { timerRang() }
    }

    /// Removes the due sleepers, the earliest first, and sets the timer for the next one.
    private func takeDue(from state: inout State) -> [Sleeper] {
        let now = SystemClock().now()
        let waiting = state.sleepers.filter { $0.value.continuation != nil }
        let due = waiting.filter { $0.value.instant <= now }
        for number in due.keys { state.sleepers[number] = nil }
        state.wake = nil
        let next = waiting.lazy.map(\.value.instant).filter { $0 > now }.min()
        if let next { set(to: next, in: &state) }
        return due.values.sorted { $0.instant < $1.instant }
    }
}

/// A wall-clock time in the time zone of this process. The C library supports all forms of `TZ`, while Foundation
/// supports only the names of zones.
package struct LocalTime: Hashable, Sendable {
    package let year: Int
    /// From 1 on.
    package let month: Int
    /// From 1 on.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    package init(secondsSince1970 seconds: Int) {
        var time = time_t(seconds)
        var parts = tm()
        localtime_r(&time, &parts)
        (year, month, day) = (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        (hour, minute, second) = (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
    }
}
