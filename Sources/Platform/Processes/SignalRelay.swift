internal import CLinux
internal import Glibc

/// Reports signals to this process, instead of their default actions.
package enum SignalRelay {
    /// Starts reporting, until the process ends or ``end(_:)``; once for each signal.
    ///
    /// - Parameters:
    ///   - takesIgnored: Whether a signal is reported that was ignored until then; else it stays ignored.
    ///   - hear: Called with the signal, and whether the terminal sent it to all processes of the foreground.
    package static func begin(
        _ signals: [ProcessSignal], takesIgnored: Bool = false,
        hear: @escaping @Sendable (_ signal: ProcessSignal, _ isFromTerminal: Bool) -> Void
    ) throws(SystemCallError) {
        let pipe = try Pipe()
        // Never closed: the handler may run until the process ends.
        let end = try SystemCall.negated("fcntl(F_DUPFD_CLOEXEC)", at: pipe.input.path) {
            clinux_duplicate(pipe.input.descriptor, 0)
        }
        let output = pipe.output
        try OwnedThread.start("signals") {
            var note: [UInt8] = [0, 0]
            while true {
                let count = read(output.descriptor, &note, note.count)
                if count < 0, errno == EINTR { continue }
                guard count == note.count else { return }
                hear(ProcessSignal(rawValue: Int32(note[0])), note[1] != 0)
            }
        }
        try SystemCall.negated("sigaction", at: "signals") {
            clinux_report_signals(signals.map(\.rawValue), Int32(signals.count), end, takesIgnored)
        }
    }

    /// Stops reporting a signal: the next one has its default action.
    package static func end(_ signal: ProcessSignal) {
        Glibc.signal(signal.rawValue, SIG_DFL)
    }
}
