internal import ArgumentParser

/// `notify`: the notification centre.
struct NotifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Wake other processes by name.",
        subcommands: [NotifyPost.self, NotifyObserve.self, NotifyState.self])
}
