internal import ArgumentParser

/// A command of the program: the frame around it reads the configuration, listens to signals and turns errors into
/// messages and exit statuses.
protocol HostCommand: AsyncParsableCommand, Sendable {
    var global: GlobalOptions { get }

    /// Does the command's work. When the user interrupts it, the task is cancelled: return, or throw anything.
    func run(in context: CommandContext) async throws
}

extension HostCommand {
    mutating func run() async throws {
        try await CommandFrame(global: global).run(self)
    }
}
