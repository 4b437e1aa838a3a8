#if ZMQ
    internal import BackendRegistry
    internal import CoreAPI
    internal import FileNotifyBackend
    internal import InMemoryBackend
    internal import Platform
    internal import ProgramOutput
    internal import ZMQBackend

    extension Resolution {
        /// The settings that clients of a hub go by.
        func hubSettings() throws(CommandFailure) -> [String: String] {
            var settings = [
                Settings.zmqEndpoint.name: try hubEndpoint().description,
                Settings.zmqHub.name: try value(Settings.zmqHub),
            ]
            settings[Settings.zmqSecretKey.name] = try absolutePath(Settings.zmqSecretKey)
            settings[Settings.zmqHubKey.name] = try optional(Settings.zmqHubKey)
            return settings
        }

        /// Where the hub is.
        func hubEndpoint() throws(CommandFailure) -> HubEndpoint {
            let found = try find(Settings.zmqEndpoint.erased)
            let directory = try groupDirectory()
            do throws(SharedCoreError) {
                if let found { return try Self.shared(HubEndpoint(found.text)) }
                return try HubEndpoint.standard(
                    forGroup: directory, runtimeDirectory: UserDirectory.runtime.path(in: environment))
            } catch {
                let place = found.map { "\($0.origin): zmq.endpoint" } ?? "zmq.endpoint"
                throw .configuration("\(place): \(error.sentence)")
            }
        }

        /// Refuses what other processes cannot reach.
        private static func shared(_ endpoint: HubEndpoint) throws(SharedCoreError) -> HubEndpoint {
            guard case .inproc = endpoint else { return endpoint }
            throw SharedCoreError(
                .invalidArgument, "Such an endpoint lives in one process; here it is ipc:// or tcp://.",
                at: "\(endpoint)")
        }

        /// How a hub is run.
        func hubOptions() throws(CommandFailure) -> HubOptions {
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

        /// The keys of a hub that is reached over a network.
        private func hubKeys(for endpoint: HubEndpoint) throws(CommandFailure) -> CurveHubKeys? {
            guard case .tcp = endpoint else { return nil }
            let secret = try absolutePath(Settings.zmqSecretKey)
            let clients = try absolutePath(Settings.zmqClientKeys)
            switch (secret, clients) {
            case (let secret?, let clients?):
                do throws(SharedCoreError) {
                    return try CurveHubKeys(
                        own: try KeyFile.secretKey(at: secret), clients: try KeyFile.publicKeys(at: clients))
                } catch {
                    throw .configuration("the hub's keys: \(error.sentence)")
                }
            case (nil, nil) where endpoint.isLocal:
                let directory = try groupDirectory()
                do throws(SharedCoreError) {
                    let pair = try KeyFile.pair(ofGroup: directory, making: true)
                    return try CurveHubKeys(own: pair, clients: [pair.publicKey])
                } catch {
                    throw .configuration("the hub's key: \(error.sentence)")
                }
            default:
                throw .configuration(
                    "a hub that listens to \(endpoint) needs zmq.secretKey, the file of its own key, and zmq.clientKeys, "
                        + "the file with the public keys of those that it lets in; “sharedcore config keys” makes keys."
                )
            }
        }

        /// Makes sure that the configured keys are some, for a hub or for a client, whichever reads this configuration.
        func checkKeys() throws(CommandFailure) {
            let endpoint = try hubEndpoint()
            guard case .tcp = endpoint else { return }
            let secret = try absolutePath(Settings.zmqSecretKey)
            let (hub, clients) = (try optional(Settings.zmqHubKey), try absolutePath(Settings.zmqClientKeys))
            if secret == nil, hub == nil, clients == nil, endpoint.isLocal { return }
            guard let secret, hub != nil || clients != nil else {
                throw .configuration(
                    "\(endpoint) is served and reached with keys: zmq.secretKey names the file of one's own; with it, "
                        + "zmq.clientKeys is for the hub, and zmq.hubKey for its clients.")
            }
            do throws(SharedCoreError) {
                let own = try KeyFile.secretKey(at: secret)
                if let hub { _ = try CurveClientKeys(own: own, hub: hub) }
                if let clients { _ = try CurveHubKeys(own: own, clients: try KeyFile.publicKeys(at: clients)) }
            } catch {
                throw .configuration("the keys: \(error.sentence)")
            }
        }

        /// How a client starts a hub: this program, with what is configured here whatever the configuration says there.
        func hubLauncher() throws(CommandFailure) -> HubLauncher? {
            guard try value(Settings.zmqHub) == "auto" else { return nil }
            do {
                let own = try OwnProgram.path
                return HubLauncher(program: own, arguments: ["hub", "--detach"], variables: try hubVariables())
            } catch let failure as CommandFailure {
                throw failure
            } catch {
                throw CommandFailure(.unavailable, "the own program cannot be found: \(error)")
            }
        }

        /// The environment that gives another process of this program the configuration of a hub, without a file.
        func hubVariables() throws(CommandFailure) -> [String: String] {
            try overridden(by: [Settings.backend.name: "zmq"]).variables()
        }
    }
#endif
