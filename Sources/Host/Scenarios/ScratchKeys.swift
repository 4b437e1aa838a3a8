#if Etcd
    internal import BackendRegistry
    internal import CoreAPI
    internal import EtcdBackend
    internal import SharedCoreConfiguration

    /// The temporary group of a scenario on the configured cluster. It has a unique name, and its keys are removed with
    /// the command.
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
