internal import CLinux
internal import Glibc

/// A futex word in the memory of this process: a thread sleeps at it and at words of shared pages in one call.
package final class OwnWord: Sendable {
    /// The maximum number of other words at which a thread can wait at the same time.
    package static let mostOthers = Int(clinux_word_limit) - 1

    /// True if the system lets a thread sleep at several words: Linux 5.16 or later, and no filter of system calls.
    package static let canSleepAtSeveral: Bool = {
        let word = OwnWord()
        // The sleep is given a value that the word does not have, so that the call returns at once if the system
        // supports it.
        return withExtendedLifetime(word) { clinux_sleep_at_any([word.address], [~word.value], 1) == -EAGAIN }
    }()

    // The address is constant, and its memory is only accessed by atomic operations.
    private nonisolated(unsafe) let base: UnsafeMutablePointer<UInt32>

    package init() {
        base = .allocate(capacity: 1)
        base.initialize(to: 0)
    }

    deinit {
        base.deallocate()
    }

    var address: UnsafeRawPointer { UnsafeRawPointer(base) }

    /// Changes with every ``wake()``.
    package var value: UInt32 { clinux_load_half(base) }

    /// Wakes the thread that sleeps at it.
    package func wake() {
        clinux_increment_half(base)
        _ = clinux_wake_at(base, .max)
    }

    /// How a sleep at several words ended.
    package enum SleepEnd: Hashable, Sendable {
        case woken
        /// The system has refused the call this time, for example for lack of memory.
        case failed
        /// The system does not let threads of this process sleep at several words.
        case unsupported
    }

    /// Sleeps while each word has its value.
    static func sleep(at words: [(address: UnsafeRawPointer, value: UInt32)]) -> SleepEnd {
        switch clinux_sleep_at_any(words.map(\.address), words.map(\.value), UInt32(words.count)) {
        case 0..., -EAGAIN, -EINTR: .woken
        case -ENOSYS, -EPERM, -EINVAL: .unsupported
        default: .failed
        }
    }
}
