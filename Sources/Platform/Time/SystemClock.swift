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
        // A thread with an executor also waits for the sleeping tasks of that executor. Otherwise each sleep would wake
        // two threads.
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
        /// Resumed with true if the time has come; nil until the task waits.
        var continuation: CheckedContinuation<Bool, Never>?
    }

    private struct State {
        var sleepers: [UInt64: Sleeper] = [:]
        var lastNumber: UInt64 = 0
        /// The time at which the timer wakes the thread; nil if it is not set.
        var wake: BootInstant?

        /// The earliest instant that a task waits for, or an earlier one; nil if none waits.
        private var next: BootInstant?
        /// True if the task that slept until ``next`` was cancelled, so that ``next`` is earlier than needed.
        private var isNextOver = false

        /// Returns the earliest instant that a task waits for.
        mutating func earliest() -> BootInstant? {
            if isNextOver { findNext() }
            return next
        }

        mutating func wait(_ continuation: CheckedContinuation<Bool, Never>, as number: UInt64) -> BootInstant? {
            guard let instant = sleepers[number]?.instant else { return nil }
            sleepers[number]?.continuation = continuation
            next = next.map { min($0, instant) } ?? instant
            return instant
        }

        mutating func remove(_ number: UInt64) -> Sleeper? {
            guard let sleeper = sleepers.removeValue(forKey: number) else { return nil }
            if sleeper.instant == next { isNextOver = true }
            return sleeper
        }

        /// Removes the sleepers that are due.
        mutating func takeDue() -> [Sleeper] {
            guard let next else { return [] }
            let now = SystemClock().now()
            guard next <= now else { return [] }
            var due: [Sleeper] = []
            for (number, sleeper) in sleepers where sleeper.continuation != nil && sleeper.instant <= now {
                sleepers[number] = nil
                due.append(sleeper)
            }
            findNext()
            return due
        }

        private mutating func findNext() {
            isNextOver = false
            next = sleepers.values.lazy.filter { $0.continuation != nil }.map(\.instant).min()
        }
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
    /// True if the thread that wakes the tasks also runs them, and calls ``setTimer()`` before it waits. Otherwise each
    /// new earliest instant sets the timer.
    private let isSetByThread: Bool

    init(isSetByThread: Bool = false) throws(SystemCallError) {
        timer = try IntervalTimer(countsSuspension: true)
        self.isSetByThread = isSetByThread
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
            // If the task does not wait yet, it finds its entry removed, and returns at once.
            state.withLock { $0.remove(number) }?.continuation?.resume(returning: false)
        }
    }

    private func wait(_ continuation: CheckedContinuation<Bool, Never>, as number: UInt64) {
        // The thread that runs the tasks sets the timer itself, when it has no more to do.
        let isOnThread = isSetByThread && ThreadExecutor.current?.sleepers === self
        let isKnown = state.withLock { state in
            guard let instant = state.wait(continuation, as: number) else { return false }
            if !isOnThread, state.wake.map({ instant < $0 }) ?? true { set(to: instant, in: &state) }
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

    /// Sets the timer for the earliest of the tasks that still sleep: one that was cancelled does not wake the thread.
    func setTimer() {
        state.withLock { state in
            if let next = state.earliest(), next != state.wake { set(to: next, in: &state) }
        }
    }

    /// Wakes the sleepers that are due.
    func timerRang() {
        timer.clear()
        let due = state.withLock { state in
            state.wake = nil
            let due = state.takeDue()
            if !isSetByThread, let next = state.earliest() { set(to: next, in: &state) }
            return due
        }
        wake(due)
    }

    /// Wakes the sleepers that are due, for a thread that has jobs all the time and does not wait for the timer.
    func wakeDue() {
        wake(state.withLock { $0.takeDue() })
    }

    /// Resumes the sleepers that are due, the earliest first.
    private func wake(_ due: [Sleeper]) {
        for sleeper in due.sorted(by: { $0.instant < $1.instant }) { sleeper.continuation?.resume(returning: true) }
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
