#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import SharedCoreConfiguration

    /// The group of a command that plays in a temporary one on the configured cluster: it has a name of its own, and its keys
    /// go with the command.
    enum ScratchKeys {
        static func holding<Value: Sendable>(
            _ directory: String, in context: CommandContext, _ play: (CommandContext) async throws -> Value
        ) async throws -> Value {
            var settings = ScenarioGroup.settings(in: directory)
            settings[Settings.group.name] = "scratch-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let own = context.with(settings)
            do {
                let value = try await play(own)
                try await remove(own)
                return value
            } catch {
                try? await remove(own)
                throw error
            }
        }

        /// Also when the command was interrupted: in a task of its own, because waiting ends with its task.
        private static func remove(_ context: CommandContext) async throws {
            let place = try context.resolution.etcdCluster()
            let group = try context.resolution.value(Settings.group)
            let prefix = try context.resolution.value(Settings.etcdPrefix)
            _ = try await Task { try await EtcdGroup.erase(group, at: place, prefix: prefix) }.value
        }
    }
#endif
