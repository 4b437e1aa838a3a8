#if Etcd
    public import CoreAPI
    public import EtcdBackend

    /// Opens groups on an etcd cluster.
    ///
    /// | key | meaning | default |
    /// |---|---|---|
    /// | `etcd.endpoints` | the members, `host:port` with commas between them | `127.0.0.1:2379` |
    /// | `etcd.prefix` | the prefix of all keys | `/sharedcore` |
    /// | `etcd.lease` | the seconds that a participant may be silent | `6` |
    /// | `etcd.tls.mode` | `on` secures connections, `off` does not | `auto`: `on` when one of the files is given, or an endpoint begins with `https://` |
    /// | `etcd.tls.ca` | the PEM file of the certificates by which members are judged | the system's |
    /// | `etcd.tls.certificate`, `etcd.tls.key` | the PEM files of the client's own certificate and its key | none |
    public struct EtcdFactory: BackendFactory {
        public let name = "etcd"

        public init() {}

        public func open(
            _ configuration: BackendConfiguration, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            let settings = configuration.settings
            var options = EtcdGroupOptions(
                openTimeout: configuration.openTimeout, requirements: configuration.requirements)
            if let prefix = settings["etcd.prefix"] { options.prefix = prefix }
            if let text = settings["etcd.lease"] {
                guard let seconds = Int(text), (1...86_400).contains(seconds) else {
                    throw SharedCoreError(
                        .invalidArgument, "A lease on etcd has between 1 and 86400 whole seconds, not “\(text)”.",
                        at: "etcd.lease")
                }
                options.lease = .seconds(seconds)
            }
            return try await EtcdGroup.open(
                Self.cluster(of: settings), group: configuration.group, as: description, options: options)
        }

        public func openToRead(
            _ configuration: BackendConfiguration, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            var options = EtcdGroupOptions()
            if let prefix = configuration.settings["etcd.prefix"] { options.prefix = prefix }
            return try await EtcdGroup.openToRead(
                Self.cluster(of: configuration.settings), group: configuration.group, as: description, options: options)
        }

        /// Returns the address of a configuration's cluster.
        ///
        /// - Throws: ``SharedCoreError/Code/invalidArgument`` for invalid endpoints or TLS settings.
        public static func cluster(of settings: [String: String]) throws(SharedCoreError) -> EtcdCluster {
            var endpoints: [EtcdCluster.Endpoint] = []
            for text in (settings["etcd.endpoints"] ?? "127.0.0.1:2379").split(separator: ",") {
                endpoints.append(try EtcdCluster.Endpoint(String(text.drop { $0 == " " })))
            }
            let files = ["etcd.tls.ca", "etcd.tls.certificate", "etcd.tls.key"].map { settings[$0] }
            let isSecure =
                switch settings["etcd.tls.mode"] ?? "auto" {
                case "on": true
                case "off": false
                case "auto": files.contains { $0 != nil }
                case let other:
                    throw SharedCoreError(
                        .invalidArgument, "The connections to etcd are secured `on`, `off` or `auto`, not “\(other)”.",
                        at: "etcd.tls.mode")
                }
            if settings["etcd.tls.mode"] == "off", let endpoint = endpoints.first(where: \.isSecure) {
                throw SharedCoreError(
                    .invalidArgument, "An endpoint with https:// is not reached with `off`.", at: "endpoint \(endpoint)"
                )
            }
            return try EtcdCluster(
                endpoints,
                security: isSecure
                    ? EtcdCluster.Security(authorities: files[0], certificate: files[1], key: files[2]) : nil)
        }
    }
#endif
