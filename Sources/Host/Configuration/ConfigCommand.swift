internal import ArgumentParser

/// `config`: what is configured, and whether it can be.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and check the configuration.",
        discussion: """
            A setting comes from its flag, else from its environment variable, else from the configuration file, else it \
            is the default. The file is --config, else SHAREDCORE_CONFIG, else sharedcore.yaml in the working directory, \
            else sharedcore/config.yaml in $XDG_CONFIG_HOME. It must be a regular file of the caller's own, or root's, which \
            other users may not write.

            The service levels reach what a host starts from that host's start on, and a supervised Main from the start of \
            its keeper on, which outlives the host: “sharedcore keeper --end” has both started anew. The settings:

            \(SettingsTable.text)
            """,
        subcommands: subcommands)

    private static var subcommands: [any ParsableCommand.Type] {
        var subcommands: [any ParsableCommand.Type] = [ConfigShow.self, ConfigValidate.self]
        #if ZMQ
            subcommands.append(ConfigKeys.self)
        #endif
        return subcommands
    }
}
