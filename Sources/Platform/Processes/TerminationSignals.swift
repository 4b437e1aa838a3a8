internal import CLinux
internal import Glibc

/// Waits for the signals that ask a program to end.
package enum TerminationSignals {
    /// Keeps the signals from ending the program by themselves. Call it before other threads are started, because
    /// threads inherit the mask.
    package static func block() {
        var set = signals
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A closed reader is then reported as an error of the write.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Blocks the calling thread until one of the signals comes.
    package static func wait() {
        var set = signals
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
    }

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }
}
