/// The names of settings that were renamed before the first release. They are refused with a message that names the new
/// one: if a former variable were ignored, another directory with another owner could be opened.
package enum FormerNames {
    /// The former keys of settings, with their present ones.
    package static let keys = [
        "dir": Settings.stateDirectory.name, "handover.deadline": Settings.handoverTimeout.name,
        "handover.hardMaximum": Settings.handoverMaximumTimeout.name,
        "handover.onDeadline": Settings.handoverOnTimeout.name, "executor.pause": Settings.executorRetryDelay.name,
        "core.startDuration": Settings.coreStartDelay.name,
    ]

    /// Refuses an environment in which a former variable is set. An empty one counts as unset, as it does for settings.
    package static func refuse(in environment: [String: String]) throws(ConfigurationFailure) {
        if let failure = failures(in: environment).first { throw failure }
    }

    /// Returns a failure for each former variable that is set.
    package static func failures(in environment: [String: String]) -> [ConfigurationFailure] {
        keys.sorted(by: <).compactMap { former, key in
            let variable = EnvironmentLayer.variable(of: former)
            guard environment[variable]?.isEmpty == false else { return nil }
            return ConfigurationFailure(
                "\(variable) is not read; set \(EnvironmentLayer.variable(of: key)) in its place.")
        }
    }
}
