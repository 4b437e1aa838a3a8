internal import Glibc
internal import Synchronization

/// Interrupts the process every millisecond, so that system calls which can be interrupted are.
enum SignalStorm {
    private static let counter = Atomic(0)

    /// How often the process was interrupted.
    static var count: Int { counter.load(ordering: .relaxed) }

    static func begin() {
        var action = sigaction()
        // Without SA_RESTART: calls give EINTR.
        action.sa_flags = 0
        action.__sigaction_handler.sa_handler = { _ in SignalStorm.counter.wrappingAdd(1, ordering: .relaxed) }
        sigaction(SIGALRM, &action, nil)
        let interval = timeval(tv_sec: 0, tv_usec: 1_000)
        var timer = itimerval(it_interval: interval, it_value: interval)
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
    }
}
