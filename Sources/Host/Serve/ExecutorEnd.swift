internal import Lifecycle
internal import ProgramOutput

/// How an Executor ended.
struct ExecutorEnd: Hashable, Sendable {
    /// The exit status of the Executor, or 128 and the number of the signal that ended it.
    let status: Int32
    /// Why the Executor was told to end; nil if it was not.
    let warning: BudgetReason?
    /// Why it was killed, when it was.
    let killing: BudgetReason?
    /// How long it ran.
    let duration: Duration
    /// The first line that it printed.
    let line: PrintedLine?

    /// The consequence of the end for the push.
    enum Verdict: Hashable, Sendable {
        /// The push was handled.
        case served
        /// The host stopped before the push was handled. The next host runs it.
        case interrupted
        /// The push must be tried again.
        case failed
    }

    var verdict: Verdict {
        // An Executor that was ended because the host stops has status 1, the same as after a missing message.
        if status == 0 { return .served }
        if warning == .stop { return .interrupted }
        // Status 1 with a printed line means that no message came. An interrupted Executor and a failed script also
        // have status 1, but print nothing.
        return status == 1 && line != nil ? .served : .failed
    }

    /// True if the Executor lacked something that every Executor needs, so that the push is not the cause.
    var isOutage: Bool { status == ExitStatus.unavailable.rawValue }

    /// How it ended, for people.
    var description: String {
        if let killing {
            let setting = if case .memory = killing { ", more than executor.memory" } else { "" }
            return "it was killed, because \(killing)\(setting)"
        }
        return status > 128 ? "it was ended by signal \(status - 128)" : "it ended with status \(status)"
    }

    /// Why it ended, in a word.
    var word: String {
        if let killing { return killing.word }
        if status > 128 { return "signal" }
        return verdict == .failed ? "status" : "ended"
    }
}
