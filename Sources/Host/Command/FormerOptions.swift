internal import SharedCoreConfiguration

/// The options that were renamed before the first release.
extension FormerNames {
    /// The former options and their present names.
    static let options = ["--dir": "--state-directory", "--deadline": "--timeout"]

    /// Returns what to write in place of the first former option among arguments that the parser refused.
    static func remedy(for arguments: [String]) -> String? {
        for argument in arguments.prefix(while: { $0 != "--" }) {
            let option = argument.prefix { $0 != "=" }
            if let now = options[String(option)] { return "\(option) is not an option; give \(now) in its place." }
        }
        return nil
    }
}
