internal import Glibc
internal import Platform

/// Turns the signals that ask a program to end into a call.
enum TerminationSignals {
    /// Keeps the signals from ending the program by themselves. Call it before any other thread is there, so that all
    /// threads inherit it.
    static func block() {
        var set = signals
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A reader that went away shows itself as an error of the write.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Calls `handler` for the first of the signals, on a thread of its own.
    static func handle(_ handler: @escaping @Sendable () -> Void) throws(SystemCallError) {
        try OwnedThread.start("signals") {
            var set = signals
            var signal: Int32 = 0
            while sigwait(&set, &signal) != 0 {}
            handler()
        }
    }

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }
}
