#if ZMQ
    internal import CoreAPI
    internal import FileNotifyBackend
    internal import InMemoryBackend
    internal import Platform
    internal import ProgramOutput
    internal import SharedCoreConfiguration
    internal import ZMQBackend

    extension Resolution {
        /// Returns how a hub is run.
        func hubOptions() throws(ConfigurationFailure) -> HubOptions {
            let endpoint = try hubEndpoint()
            let storage: HubOptions.Storage =
                switch try value(Settings.zmqStorage) {
                case "memory": .memory(MemorySpace())
                default:
                    .files(
                        directory: try groupDirectory(), FileGroupOptions(durability: try value(Settings.durability)))
                }
            var options = HubOptions(
                group: try value(Settings.group), storage: storage, endpoints: [endpoint],
                keys: try hubKeys(for: endpoint), lease: try value(Settings.zmqLease))
            options.clientMemory = try value(Settings.zmqClientMemory)
            return options
        }

        /// Returns the keys of a hub with a network endpoint.
        private func hubKeys(for endpoint: HubEndpoint) throws(ConfigurationFailure) -> CurveHubKeys? {
            guard case .tcp = endpoint else { return nil }
            let secret = try absolutePath(Settings.zmqSecretKey)
            let clients = try absolutePath(Settings.zmqClientKeys)
            switch (secret, clients) {
            case (let secret?, let clients?):
                do throws(SharedCoreError) {
                    return try CurveHubKeys(
                        own: try KeyFile.secretKey(at: secret), clients: try KeyFile.publicKeys(at: clients))
                } catch {
                    throw ConfigurationFailure(error.code, at: nil, "the hub's keys: \(error.sentence)")
                }
            case (nil, nil) where endpoint.isLocal:
                let directory = try groupDirectory()
                do throws(SharedCoreError) {
                    let pair = try KeyFile.pair(ofGroup: directory, making: true)
                    return try CurveHubKeys(own: pair, clients: [pair.publicKey])
                } catch {
                    throw ConfigurationFailure(error.code, at: nil, "the hub's key: \(error.sentence)")
                }
            default:
                throw ConfigurationFailure(
                    "a hub that listens to \(endpoint) needs zmq.secretKey, the file of its own key, and zmq.clientKeys, "
                        + "the file of its clients' public keys; “sharedcore config keys” makes keys."
                )
            }
        }

        /// The checks of the settings of ZeroMQ, for a hub and for a client alike. Each check throws for one mistake. A
        /// missing setting is a mistake only if the backend needs it.
        var hubChecks: [() throws -> Void] {
            [checkEndpoint, checkSecretKey, checkHubKey, checkClientKeys, checkKeysAreSet]
        }

        private func checkEndpoint() throws {
            let isUsed = try value(Settings.backend) == "zmq"
            if isUsed || find(Settings.zmqEndpoint.erased) != nil { _ = try hubEndpoint() }
        }

        private func checkSecretKey() throws {
            guard let path = try absolutePath(Settings.zmqSecretKey) else { return }
            _ = try value(of: Settings.zmqSecretKey) { () throws(SharedCoreError) in try KeyFile.secretKey(at: path) }
        }

        private func checkHubKey() throws {
            guard let key = try optional(Settings.zmqHubKey) else { return }
            _ = try value(of: Settings.zmqHubKey) { () throws(SharedCoreError) in
                try CurveClientKeys(own: try CurveKeyPair.generate(), hub: key)
            }
        }

        private func checkClientKeys() throws {
            guard let path = try absolutePath(Settings.zmqClientKeys) else { return }
            _ = try value(of: Settings.zmqClientKeys) { () throws(SharedCoreError) in
                try CurveHubKeys(own: try CurveKeyPair.generate(), clients: try KeyFile.publicKeys(at: path))
            }
        }

        /// Refuses a network without keys.
        private func checkKeysAreSet() throws {
            guard try value(Settings.backend) == "zmq" else { return }
            let endpoint = try hubEndpoint()
            guard case .tcp = endpoint else { return }
            let hasSecret = try absolutePath(Settings.zmqSecretKey) != nil
            let (hub, clients) = (try optional(Settings.zmqHubKey), try absolutePath(Settings.zmqClientKeys))
            let hasOthers = hub != nil || clients != nil
            if hasSecret && hasOthers || !hasSecret && !hasOthers && endpoint.isLocal { return }
            throw ConfigurationFailure(
                "\(endpoint) is served and reached with keys: zmq.secretKey names the file of one's own; with it, "
                    + "zmq.clientKeys is for the hub, and zmq.hubKey for its clients.")
        }

        /// Returns the result of a conversion of a setting; an error names the setting and its source.
        private func value<Value, Result>(
            of setting: Setting<Value>, _ read: () throws(SharedCoreError) -> Result
        ) throws(ConfigurationFailure) -> Result {
            do throws(SharedCoreError) {
                return try read()
            } catch {
                throw ConfigurationFailure(
                    error.code, at: find(setting.erased)?.origin.description, "\(setting.name): \(error.sentence)")
            }
        }
    }
#endif
