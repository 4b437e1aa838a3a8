public import CoreAPI

/// The backends that a configuration can choose from: the bundled ones and any that the caller adds.
///
/// ```swift
/// var registry = BackendRegistry.bundled()
/// registry.register(RedisFactory())
/// let group = try await registry.open(configuration, as: SessionDescription(role: .main))
/// ```
public struct BackendRegistry: Sendable {
    private var factories: [String: any BackendFactory] = [:]

    /// A registry without any backend.
    public init() {}

    /// The backends that come with the package: `memory`, with a memory of its own, `file`, and `zmq` and `etcd` where the
    /// package is built with them.
    public static func bundled() -> BackendRegistry {
        var registry = BackendRegistry()
        registry.register(MemoryFactory())
        registry.register(FileFactory())
        #if ZMQ
            registry.register(ZMQFactory())
        #endif
        #if Etcd
            registry.register(EtcdFactory())
        #endif
        return registry
    }

    /// Adds a backend. One of the same name is replaced.
    public mutating func register(_ factory: any BackendFactory) {
        factories[factory.name] = factory
    }

    /// The names of the backends, in alphabetical order.
    public var names: [String] { factories.keys.sorted() }

    /// Joins the group that a configuration names.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported`` when no backend of that name was registered, otherwise what the
    ///   backend throws.
    public func open(
        _ configuration: BackendConfiguration, as description: SessionDescription = SessionDescription()
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await factory(of: configuration).open(configuration, as: description)
    }

    /// Opens the group that a configuration names to read it, without a session and without a trace.
    ///
    /// Source: contract L4.
    ///
    /// - Throws: As ``open(_:as:)``; ``SharedCoreError/Code/unavailable`` where there is no such group.
    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription = SessionDescription()
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await factory(of: configuration).openToRead(configuration, as: description)
    }

    private func factory(of configuration: BackendConfiguration) throws(SharedCoreError) -> any BackendFactory {
        guard let factory = factories[configuration.backend] else {
            throw SharedCoreError(
                .unsupported,
                "There is no backend “\(configuration.backend)” here; there is \(names.joined(separator: ", ")).",
                at: "backend")
        }
        return factory
    }
}

/// Which group to open on which backend: what a configuration file says, without the file.
public struct BackendConfiguration: Hashable, Sendable {
    /// The backend's name, such as `file`.
    public var backend: String
    /// The name of the group.
    public var group: String
    /// The absolute path of the directory in which groups lie, each in a directory of its own name. Backends that keep no
    /// files ignore it.
    public var stateDirectory: String
    /// The failures that a commit must survive; nil leaves it to the backend.
    public var durability: Durability?
    /// The caller's requirements beyond the common part of the contract.
    public var requirements: Requirements
    /// Values that only one backend knows, by key, such as `zmq.endpoint`.
    public var settings: [String: String]

    public init(
        backend: String, group: String, stateDirectory: String, durability: Durability? = nil,
        requirements: Requirements = .none, settings: [String: String] = [:]
    ) {
        self.backend = backend
        self.group = group
        self.stateDirectory = stateDirectory
        self.durability = durability
        self.requirements = requirements
        self.settings = settings
    }

    /// The absolute path of the group's own directory.
    public var directory: String {
        stateDirectory.hasSuffix("/") ? stateDirectory + group : stateDirectory + "/" + group
    }
}
