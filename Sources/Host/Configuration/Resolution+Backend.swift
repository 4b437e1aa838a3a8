internal import BackendRegistry
internal import CoreAPI

extension Resolution {
    /// The group that is configured, as its backend is told.
    func backendConfiguration() throws(CommandFailure) -> BackendConfiguration {
        let backend = try value(Settings.backend)
        var configuration = BackendConfiguration(
            backend: backend, group: try value(Settings.group), parentDirectory: try parentDirectory(),
            durability: try value(Settings.durability))
        #if ZMQ
            if backend == "zmq" {
                configuration.settings = try hubSettings()
                // What is in a hub's memory survives nothing.
                if try value(Settings.zmqStorage) == "memory" { configuration.durability = nil }
            }
        #endif
        #if Etcd
            if backend == "etcd" { configuration.settings = try etcdSettings() }
        #endif
        return configuration
    }
}
