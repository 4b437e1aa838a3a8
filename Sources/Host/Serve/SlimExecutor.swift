internal import Coordination
internal import CoreAPI
internal import Glibc

/// How `sharedcore-executor` is told what a configuration says.
struct SlimExecutor: Sendable {
    /// The absolute path of the group's directory.
    let directory: String
    let maildir: String
    let startDuration: Duration
    let options: CoordinationOptions
    var durability: Durability?
    /// The process with which it ends.
    var parent: Int32?

    /// Where it is beside this program; nil where it is not.
    static func path(beside program: String) -> String? {
        let path = program.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/sharedcore-executor"
        return access(path, X_OK) == 0 ? path : nil
    }

    func arguments(for callID: CallID, as name: String, deadline: Duration) -> [String] {
        var arguments = [
            "--directory", directory, "--call-id", callID.text, "--name", name, "--maildir", maildir,
            "--deadline-ms", deadline.wholeMilliseconds, "--start-ms", startDuration.wholeMilliseconds,
            "--budget-ms", options.executorBudget.wholeMilliseconds,
            "--inbox-lifetime-ms", options.inboxLifetime.wholeMilliseconds,
            "--handover-deadline-ms", options.handoverDeadline.wholeMilliseconds,
            "--handover-hard-maximum-ms", options.handoverHardMaximum.wholeMilliseconds,
            "--on-deadline", options.onDeadline.rawValue,
        ]
        if let durability { arguments += ["--durability", durability.rawValue] }
        if let parent { arguments += ["--parent", String(parent)] }
        return arguments
    }
}

extension Duration {
    /// The duration as a whole number of milliseconds.
    var wholeMilliseconds: String { String(clampedNanoseconds / 1_000_000) }
}
