/// The names of settings and options that were renamed before the first release. They are refused with the new name: a former
/// variable that is passed over would open another directory, with another owner.
enum FormerNames {
    /// The former keys of settings, with those of now.
    static let keys = [
        "dir": Settings.stateDirectory.name, "handover.deadline": Settings.handoverTimeout.name,
        "handover.hardMaximum": Settings.handoverMaximumTimeout.name,
        "handover.onDeadline": Settings.handoverOnTimeout.name, "executor.pause": Settings.executorRetryDelay.name,
        "core.startDuration": Settings.coreStartDelay.name,
    ]

    /// The former options, with those of now.
    static let options = ["--dir": "--state-directory", "--deadline": "--timeout"]

    /// Refuses an environment in which a former variable is set. An empty one counts as unset, as it does for settings.
    ///
    /// - Throws: With status 78.
    static func refuse(in environment: [String: String]) throws(CommandFailure) {
        for (former, key) in keys.sorted(by: <) {
            let variable = EnvironmentLayer.variable(of: former)
            guard environment[variable]?.isEmpty == false else { continue }
            throw .configuration("\(variable) is not read; set \(EnvironmentLayer.variable(of: key)) in its place.")
        }
    }

    /// Returns what to write in place of the first former option among arguments that the parser refused.
    static func remedy(for arguments: [String]) -> String? {
        for argument in arguments.prefix(while: { $0 != "--" }) {
            let option = argument.prefix { $0 != "=" }
            if let now = options[String(option)] { return "\(option) is no option; give \(now) in its place." }
        }
        return nil
    }
}
