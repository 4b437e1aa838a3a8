internal import CoreAPI
internal import Glibc
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import ProgramOutput

extension Resolution {
    /// Where the keeper of the group's Main has its files.
    func keeperPlace() throws(CommandFailure) -> KeeperPlace {
        KeeperPlace(directory: try runtimeDirectory())
    }

    /// Which Main is supervised, and how; nil when none is.
    func supervision() throws(CommandFailure) -> KeeperConfiguration? {
        guard let command = try optional(Settings.mainCommand) else { return nil }
        var options = SupervisionOptions()
        options.watchdog = try optional(Settings.mainWatchdog)
        options.restart.limit = try value(Settings.mainRestartLimit)
        options.restart.window = try value(Settings.mainRestartWindow)
        options.wakeBudget = try value(Settings.mainWakeBudget)
        options.wakeWarning = options.wakeBudget * 4 / 5
        return KeeperConfiguration(command: command, options: options)
    }

    /// The path of `sharedcore-keeper`, which stands beside this program.
    static func keeperProgram() throws(CommandFailure) -> String {
        let name = "sharedcore-keeper"
        let path = (try? OwnProgram.sibling(name)) ?? name
        guard access(path, X_OK) == 0 else {
            throw CommandFailure(.unavailable, "sharedcore-keeper is not beside this program: \(path)")
        }
        return path
    }
}

extension MainSupervisor {
    /// What sees to the Main that is configured; nil when none is.
    convenience init?(for context: CommandContext) throws(CommandFailure) {
        let resolution = context.resolution
        guard let configuration = try resolution.supervision() else { return nil }
        let place = try resolution.keeperPlace()
        // What the kernel takes as the path of a socket.
        guard place.socket.utf8.count <= 107 else {
            throw .configuration(
                "main.command: the path of the keeper's socket is longer than 107 bytes: \(place.socket); set "
                    + "XDG_RUNTIME_DIR, or choose a shorter dir.")
        }
        let variables = try resolution.variables()
        let program = try Resolution.keeperProgram()
        do throws(SharedCoreError) {
            try self.init(place, configuration, program: program, variables: variables, logger: context.logger)
        } catch {
            throw CommandFailure(error)
        }
    }
}
