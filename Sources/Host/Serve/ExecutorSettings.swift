internal import Lifecycle

/// What the host goes by that can change while it runs.
struct ExecutorSettings: Sendable {
    /// How many Executors run at once.
    let limit: Int
    let limits: ExecutorLimits
    let retry: RetryPolicy
    let launch: ExecutorLaunch

    /// The settings that a reload can change.
    static let changeable: Set<String> = [
        Settings.executorLimit.name, Settings.executorBudget.name, Settings.executorWarning.name,
        Settings.executorMemory.name, Settings.executorAttempts.name, Settings.executorRetryDelay.name,
        Settings.executorCommand.name, Settings.inboxLifetime.name, Settings.coreMaildir.name,
        Settings.coreStartDelay.name, Settings.handoverTimeout.name, Settings.handoverMaximumTimeout.name,
        Settings.handoverOnTimeout.name,
        // Of a Main that is supervised already; the host tells its keeper.
        Settings.mainWatchdog.name, Settings.mainRestartLimit.name, Settings.mainRestartWindow.name,
        Settings.mainWakeBudget.name,
    ]

    init(_ resolution: Resolution) throws(CommandFailure) {
        limit = try resolution.value(Settings.executorLimit)
        let budget = try resolution.value(Settings.executorBudget)
        limits = ExecutorLimits(
            warning: try resolution.executorWarning(), budget: budget,
            memory: try resolution.value(Settings.executorMemory))
        retry = RetryPolicy(
            attempts: try resolution.value(Settings.executorAttempts),
            delay: try resolution.value(Settings.executorRetryDelay))
        // A little less than until it is told, so that it can say by itself that nothing came.
        launch = try ExecutorLaunch(resolution, timeout: limits.warning * 19 / 20)
    }
}

extension Resolution {
    /// When an Executor is told that its budget is nearly used up: as configured, else after five sixths of it.
    fileprivate func executorWarning() throws(CommandFailure) -> Duration {
        let budget = try value(Settings.executorBudget)
        guard let found = try find(Settings.executorWarning.erased),
            let warning = try optional(Settings.executorWarning)
        else { return budget * 5 / 6 }
        guard warning <= budget else {
            throw .configuration(
                "\(found.origin): executor.warning is “\(found.text)”; it must not be longer than executor.budget, "
                    + "which is \(DurationText.write(budget)).")
        }
        return warning
    }
}
