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
        // In microseconds: the first, then each. `setitimer` takes a type whose members Swift 6.3 loses in release builds.
        ualarm(1_000, 1_000)
    }
}
