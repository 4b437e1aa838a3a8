#if ZMQ
    internal import CoreAPI
    internal import SharedCoreConfiguration
    internal import ZMQBackend

    /// The hub for a command that runs a scenario in a temporary group. It ends with the command, even if the command
    /// is killed.
    enum ScratchHub {
        /// Runs a body with a temporary group behind a hub of its own, which stores the group in files of the
        /// directory.
        static func serving<Value: Sendable>(
            _ directory: String, in context: CommandContext, _ play: (CommandContext) async throws -> Value
        ) async throws -> Value {
            var settings = ScenarioGroup.settings(in: directory)
            settings[Settings.zmqEndpoint.name] = "ipc://\(directory)/hub"
            settings[Settings.zmqStorage.name] = "files"
            // The processes of the scenario must not start a hub: one that is killed while it starts a hub would leave
            // that hub running.
            settings[Settings.zmqHub.name] = "none"
            let own = context.with(settings)
            return try await ScenarioGroup.playing {
                try await DetachedHub(context: own).startTied()
                return try await play(own)
            } end: {
                _ = try await HubEnding.stop(
                    at: own.resolution.hubEndpoint(), ofGroup: own.resolution.groupDirectory())
            }
        }
    }
#endif
