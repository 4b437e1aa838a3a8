#if ZMQ
    internal import CoreAPI
    internal import SharedCoreConfiguration
    internal import ZMQBackend

    /// The hub of a command that plays in a temporary group: it ends with the command, also when that one is killed.
    enum ScratchHub {
        /// Plays in a group behind a hub of its own, which keeps it in files of the directory.
        static func serving<Value: Sendable>(
            _ directory: String, in context: CommandContext, _ play: (CommandContext) async throws -> Value
        ) async throws -> Value {
            var settings = ScenarioGroup.settings(in: directory)
            settings[Settings.zmqEndpoint.name] = "ipc://\(directory)/hub"
            settings[Settings.zmqStorage.name] = "files"
            // Of the command's processes, none that is killed in the middle of its start leaves a hub behind.
            settings[Settings.zmqHub.name] = "none"
            let own = context.with(settings)
            do {
                try await DetachedHub(context: own).startTied()
                let value = try await play(own)
                try await end(own)
                return value
            } catch {
                try? await end(own)
                throw error
            }
        }

        /// Ends the hub, also when the command was interrupted: in a task of its own, because waiting ends with its task.
        private static func end(_ context: CommandContext) async throws {
            let endpoint = try context.resolution.hubEndpoint()
            let directory = try context.resolution.groupDirectory()
            _ = try await Task { try await HubEnding.stop(at: endpoint, ofGroup: directory) }.value
        }
    }
#endif
