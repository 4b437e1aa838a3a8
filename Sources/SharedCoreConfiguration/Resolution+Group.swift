package import BackendRegistry
package import Coordination
internal import CoreAPI

extension Resolution {
    /// Returns the configured group, for its backend.
    package func backendConfiguration() throws(ConfigurationFailure) -> BackendConfiguration {
        let backend = try value(Settings.backend)
        var configuration = BackendConfiguration(
            backend: backend, group: try value(Settings.group), stateDirectory: try stateDirectory(),
            durability: try value(Settings.durability))
        if let factory {
            configuration.durability = find(Settings.durability.erased) == nil ? nil : configuration.durability
            for setting in factory.settings {
                let erased = AnySetting(setting)
                guard let found = find(erased), !erased.fallback.isGiven(by: found.text) else { continue }
                configuration.settings[setting.key] = try shown(erased) ?? found.text
            }
        }
        // The backend `memory` writes nothing to a disk, so it has no durability to set.
        if backend == "memory" { configuration.durability = nil }
        #if ZMQ
            if backend == "zmq" {
                configuration.settings = try hubSettings()
                if try value(Settings.zmqStorage) == "memory" { configuration.durability = nil }
            }
        #endif
        #if Etcd
            if backend == "etcd" { configuration.settings = try etcdSettings() }
        #endif
        return configuration
    }

    /// Returns how ownership and messages are handled.
    package func coordinationOptions() throws(ConfigurationFailure) -> CoordinationOptions {
        let timeout = try value(Settings.handoverTimeout)
        let maximum = try value(Settings.handoverMaximumTimeout)
        guard timeout <= maximum else {
            let found = find(Settings.handoverTimeout.erased) ?? find(Settings.handoverMaximumTimeout.erased)
            throw ConfigurationFailure(
                at: found?.origin.description,
                "handover.timeout is \(DurationText.write(timeout)); it must not be longer than handover.maximumTimeout, "
                    + "which is \(DurationText.write(maximum)).")
        }
        let batonLifetime = try value(Settings.batonLifetime)
        guard Baton.lifetimes.contains(batonLifetime) else {
            throw ConfigurationFailure(
                at: find(Settings.batonLifetime.erased)?.origin.description,
                "baton.lifetime is \(DurationText.write(batonLifetime)); it must be 1 second to 1 minute.")
        }
        var options = CoordinationOptions(
            handoverTimeout: timeout, handoverMaximumTimeout: maximum,
            onHandoverTimeout: try value(Settings.handoverOnTimeout),
            executorBudget: try value(Settings.executorBudget),
            inboxLifetime: try value(Settings.inboxLifetime), callsLifetime: try value(Settings.callsLifetime),
            wakeBound: try value(Settings.wakeBound))
        options.batonLifetime = batonLifetime
        return options
    }
}
