internal import Coordination
internal import CoreAPI
internal import Glibc

/// How `sharedcore-executor`, which reads no configuration, is told what a configuration says.
struct SlimExecutor: Sendable {
    /// The absolute path of the group's directory.
    private let directory: String
    private let maildir: String
    private let startDelay: Duration
    private let memory: UInt64?
    private let options: CoordinationOptions
    private let durability: Durability
    private let parent: Int32?

    /// - Parameter parent: The process with which it ends; nil for none.
    init(_ resolution: Resolution, parent: Int32? = nil) throws(CommandFailure) {
        directory = try resolution.groupDirectory()
        maildir = try resolution.maildir()
        startDelay = try resolution.value(Settings.coreStartDelay)
        memory = try resolution.value(Settings.executorMemory)
        options = try resolution.coordinationOptions()
        durability = try resolution.value(Settings.durability)
        self.parent = parent
    }

    /// Where it is beside this program; nil where it is not.
    static func path(beside program: String) -> String? {
        let path = program.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/sharedcore-executor"
        return access(path, X_OK) == 0 ? path : nil
    }

    func arguments(for callID: CallID, as name: String, timeout: Duration) -> [String] {
        var arguments = [
            "--directory", directory, "--call-id", callID.text, "--name", name, "--maildir", maildir,
            "--timeout-ms", timeout.wholeMilliseconds, "--start-ms", startDelay.wholeMilliseconds,
            "--memory-bytes", memory.map { String($0) } ?? "none",
            "--budget-ms", options.executorBudget.wholeMilliseconds,
            "--inbox-lifetime-ms", options.inboxLifetime.wholeMilliseconds,
            "--handover-timeout-ms", options.handoverTimeout.wholeMilliseconds,
            "--handover-maximum-timeout-ms", options.handoverMaximumTimeout.wholeMilliseconds,
            "--on-timeout", options.onHandoverTimeout.rawValue, "--durability", durability.rawValue,
        ]
        if let parent { arguments += ["--parent", String(parent)] }
        return arguments
    }
}

extension Duration {
    /// The duration as a whole number of milliseconds, rounded up: no time that must pass becomes none.
    fileprivate var wholeMilliseconds: String { String((clampedNanoseconds + 999_999) / 1_000_000) }
}
