#if Etcd
    internal import BackendRegistry
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
            return try await ScenarioGroup.playing {
                try await play(own)
            } end: {
                try await EtcdGroup.erase(
                    own.resolution.value(Settings.group), at: own.resolution.etcdCluster(),
                    prefix: own.resolution.value(Settings.etcdPrefix))
            }
        }
    }

    extension Resolution {
        /// Returns the configured cluster.
        func etcdCluster() throws -> EtcdCluster {
            try EtcdFactory.cluster(of: etcdSettings())
        }
    }
#endif
