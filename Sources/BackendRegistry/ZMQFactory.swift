#if ZMQ
    public import CoreAPI
    internal import Platform
    public import ZMQBackend

    /// Opens groups that a hub serves.
    ///
    /// | key | meaning | default |
    /// |---|---|---|
    /// | `zmq.endpoint` | where the hub is | a socket of the group's directory, see `HubEndpoint` |
    /// | `zmq.hub` | `none` starts no hub where none is | `auto` |
    /// | `zmq.secretKey` | the path of the file with this client's secret key, over `tcp` | on loopback that of the group's directory |
    /// | `zmq.hubKey` | the public key of the hub, over `tcp` | on loopback that of the group's directory |
    ///
    /// If the configuration names a durability, the hub must promise it.
    public struct ZMQFactory: BackendFactory {
        public let name = "zmq"

        private let launcher: HubLauncher?

        /// Makes a factory of groups behind a hub.
        ///
        /// - Parameter launcher: Starts a hub if none runs; nil starts none.
        public init(launcher: HubLauncher? = nil) {
            self.launcher = launcher
        }

        /// How long opening waits for a hub, which may have to be started first on a busy machine.
        private static let launchTimeout = Duration.seconds(30)

        public func open(
            _ configuration: BackendConfiguration, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            let endpoint = try Self.endpoint(of: configuration)
            var options = try Self.options(of: configuration, for: endpoint)
            // Only a hub at a socket of this machine can be started.
            if case .ipc = endpoint, configuration.settings["zmq.hub"] != "none", let launcher {
                options.launcher = launcher
                options.openTimeout = Self.launchTimeout
            }
            if let limit = configuration.openTimeout {
                options.openTimeout = options.openTimeout.map { min($0, limit) } ?? limit
            }
            return try await ZMQGroup.open(endpoint, group: configuration.group, as: description, options: options)
        }

        public func openToRead(
            _ configuration: BackendConfiguration, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            let endpoint = try Self.endpoint(of: configuration)
            var options = try Self.options(of: configuration, for: endpoint)
            // A reader needs only the durability; the other requirements concern participants.
            options.requirements = Requirements(durability: options.requirements.durability)
            return try await ZMQGroup.openToRead(
                endpoint, group: configuration.group, as: description, options: options)
        }

        private static func options(
            of configuration: BackendConfiguration, for endpoint: HubEndpoint
        ) throws(SharedCoreError) -> ZMQGroupOptions {
            var options = ZMQGroupOptions(requirements: configuration.requirements)
            if let durability = configuration.durability, durability > (options.requirements.durability ?? .memory) {
                options.requirements.durability = durability
            }
            options.keys = try keys(of: configuration, for: endpoint)
            return options
        }

        /// Returns the address of a configuration's hub.
        ///
        /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an invalid endpoint.
        public static func endpoint(of configuration: BackendConfiguration) throws(SharedCoreError) -> HubEndpoint {
            if let text = configuration.settings["zmq.endpoint"] { return try HubEndpoint(text) }
            return try HubEndpoint.standard(
                forGroup: configuration.requireDirectory(),
                runtimeDirectory: OwnProcess.text("XDG_RUNTIME_DIR"))
        }

        /// Returns the keys of a connection over a network; on loopback those of the group's directory, unless others
        /// are given.
        private static func keys(
            of configuration: BackendConfiguration, for endpoint: HubEndpoint
        ) throws(SharedCoreError) -> CurveClientKeys? {
            guard case .tcp = endpoint else { return nil }
            switch (configuration.settings["zmq.secretKey"], configuration.settings["zmq.hubKey"]) {
            case (let path?, let hub?): return try CurveClientKeys(own: KeyFile.secretKey(at: path), hub: hub)
            case (nil, nil) where endpoint.isLocal:
                let pair = try KeyFile.pair(ofGroup: configuration.requireDirectory())
                return try CurveClientKeys(own: pair, hub: pair.publicKey)
            default:
                throw SharedCoreError(
                    .invalidArgument,
                    "A hub on a network is reached with keys: zmq.secretKey names the file of one's own, zmq.hubKey is "
                        + "the public one of the hub.", at: "\(endpoint)")
            }
        }
    }
#endif
