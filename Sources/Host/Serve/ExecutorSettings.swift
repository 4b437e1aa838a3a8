internal import Lifecycle
internal import Platform
internal import SharedCoreConfiguration

/// The settings of the host that can change while it runs.
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
        Settings.executorCommand.name, Settings.inboxLifetime.name, Settings.callsLifetime.name,
        Settings.batonLifetime.name,
        Settings.coreMaildir.name, Settings.coreStartDelay.name, Settings.coreCommand.name,
        Settings.coreStartTimeout.name, Settings.handoverTimeout.name, Settings.handoverMaximumTimeout.name,
        Settings.handoverOnTimeout.name, Settings.wakeBound.name,
        // Settings of a Main that is already supervised: the host passes them to its keeper.
        Settings.mainWatchdog.name, Settings.mainRestartLimit.name, Settings.mainRestartWindow.name,
        Settings.mainWakeBudget.name,
    ]

    /// Returns the memory in bytes that an Executor of this program needs with the largest message that it shows.
    /// Measured.
    ///
    /// - Parameter isResident: True if it has all values of the group in its memory, as behind a hub.
    static func leastMemory(isResident: Bool) -> UInt64 { isResident ? 20 << 20 : 8 << 20 }

    /// Returns why Executors will be killed for their memory; nil if they will not.
    func memoryProblem(isResident: Bool) -> String? {
        let least = Self.leastMemory(isResident: isResident)
        guard launch.isOwn, let memory = limits.memory, memory < least else { return nil }
        return "executor.memory is \(memory >> 20) MiB: an Executor of this group needs \(least >> 20) MiB"
            + (isResident ? ", as it has all of the group in its memory" : "") + ", and may be killed with less"
    }

    /// Reads the settings of the Executors from the configuration.
    ///
    /// - Parameter own: The path of this program; nil to find it.
    init(_ resolution: Resolution, own: String? = nil) throws {
        limit = try resolution.value(Settings.executorLimit)
        let budget = try resolution.value(Settings.executorBudget)
        limits = ExecutorLimits(
            warning: try resolution.executorWarning(), budget: budget,
            memory: try resolution.value(Settings.executorMemory))
        retry = RetryPolicy(
            attempts: try resolution.value(Settings.executorAttempts),
            delay: try resolution.value(Settings.executorRetryDelay))
        // The timeout is a little shorter than the time to the warning, so that an Executor can report by itself that
        // no message came.
        launch = try ExecutorLaunch(resolution, timeout: limits.warning * 19 / 20, own: own)
    }
}

extension Resolution {
    /// Returns when an Executor is told that its budget is nearly used up: as configured, else after five sixths of it.
    fileprivate func executorWarning() throws(ConfigurationFailure) -> Duration {
        let budget = try value(Settings.executorBudget)
        guard let found = find(Settings.executorWarning.erased),
            let warning = try optional(Settings.executorWarning)
        else { return budget * 5 / 6 }
        guard warning <= budget else {
            throw ConfigurationFailure(
                at: found.origin.description,
                "executor.warning is “\(found.text)”; it must not be longer than executor.budget, "
                    + "which is \(DurationText.write(budget)).")
        }
        return warning
    }
}
