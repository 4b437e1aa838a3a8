public import CoreAPI
internal import FileNotifyBackend
public import InMemoryBackend
public import PluginBackend

#if ZMQ
    package import ZMQBackend
#endif

/// The backends that a configuration can choose from: the bundled ones and any that the caller adds.
///
/// ```swift
/// var registry = BackendRegistry.bundled()
/// registry.register(RedisFactory())
/// let group = try await registry.open(configuration, as: SessionDescription(role: .main))
/// ```
public struct BackendRegistry: Sendable {
    private var factories: [String: any BackendFactory] = [:]

    /// Makes a registry without any backend.
    public init() {}

    /// Returns the backends that come with the package: `memory`, with a memory of its own, `file`, and `zmq` and
    /// `etcd` where the package is built with them.
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

    #if ZMQ
        /// Makes the bundled backend `zmq` start a hub if none runs. If another backend was registered under this name,
        /// changes nothing.
        package mutating func startHubs(with launcher: HubLauncher) {
            guard factories["zmq"] is ZMQFactory else { return }
            register(ZMQFactory(launcher: launcher))
        }
    #endif

    /// The names of the backends, in alphabetical order.
    public var names: [String] { factories.keys.sorted() }

    /// Joins the group that a configuration names.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported`` when no backend of that name was registered, otherwise the
    ///   backend's errors.
    public func open(
        _ configuration: BackendConfiguration, as description: SessionDescription = SessionDescription()
    ) async throws(SharedCoreError) -> any SharedGroup {
        let factory = try factory(of: configuration)
        do throws(SharedCoreError) { return try await factory.open(configuration, as: description) } catch {
            throw error.hiding(configuration.secrets(of: factory))
        }
    }

    /// Opens the group that a configuration names to read it, without a session and without a trace.
    ///
    /// Source: contract L4.
    ///
    /// - Throws: As ``open(_:as:)``; ``SharedCoreError/Code/unavailable`` if there is no such group.
    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription = SessionDescription()
    ) async throws(SharedCoreError) -> any SharedGroup {
        let factory = try factory(of: configuration)
        do throws(SharedCoreError) { return try await factory.openToRead(configuration, as: description) } catch {
            throw error.hiding(configuration.secrets(of: factory))
        }
    }

    private func factory(of configuration: BackendConfiguration) throws(SharedCoreError) -> any BackendFactory {
        guard let factory = factories[configuration.backend] else {
            throw .noBackend(configuration.backend, among: names, at: "backend")
        }
        return factory
    }
}

extension SharedCoreError {
    /// The traits of the package with which bundled backends are built, by the backend's name.
    private static let backendTraits = ["zmq": "ZMQ", "etcd": "Etcd"]

    /// Returns the error for a backend that a registry does not have. It names those that it has, and what brings the
    /// missing one.
    package static func noBackend(_ name: String, among names: [String], at place: String) -> SharedCoreError {
        let remedy =
            if let trait = backendTraits[name] {
                "The trait “\(trait)” of the package SharedCore brings it: enable the trait, and build again."
            } else {
                "Correct the name, or register the backend's factory; that of a plugin is PluginFactory."
            }
        let present = names.isEmpty ? "none is registered" : "there is \(names.joined(separator: ", "))"
        return SharedCoreError(.unsupported, "There is no backend “\(name)” here; \(present). \(remedy)", at: place)
    }
}

/// A group and its backend, as a configuration file describes them.
public struct BackendConfiguration: Hashable, Sendable {
    /// The backend's name, such as `file`.
    public var backend: String
    /// The name of the group.
    public var group: String
    /// The absolute path of the directory that contains a directory for each group, under the group's name. Backends
    /// that keep no files ignore it, and it may be empty for them.
    public var stateDirectory: String
    /// The failures that a commit must survive; nil leaves it to the backend.
    public var durability: Durability?
    /// The caller's requirements beyond the common part of the contract.
    public var requirements: Requirements
    /// Settings of a single backend by key, such as `zmq.endpoint`.
    public var settings: [String: String]
    /// How long opening may wait for a hub or a cluster; nil for the backend's own limit. Backends other than `zmq` and
    /// `etcd` do not wait.
    public var openTimeout: Duration?

    public init(
        backend: String, group: String, stateDirectory: String = "", durability: Durability? = nil,
        requirements: Requirements = .none, settings: [String: String] = [:]
    ) {
        self.backend = backend
        self.group = group
        self.stateDirectory = stateDirectory
        self.durability = durability
        self.requirements = requirements
        self.settings = settings
    }

    /// The absolute path of the group's own directory; empty without a state directory.
    public var directory: String {
        if stateDirectory.isEmpty { return "" }
        return stateDirectory.hasSuffix("/") ? stateDirectory + group : stateDirectory + "/" + group
    }

    /// Returns the values of the backend's secret settings.
    fileprivate func secrets(of factory: any BackendFactory) -> [String] {
        factory.settings.filter(\.isSecret).compactMap { settings[$0.key] }
    }

    /// Returns the ``directory`` for a backend that needs one.
    func requireDirectory() throws(SharedCoreError) -> String {
        guard !stateDirectory.isEmpty else {
            throw SharedCoreError(
                .invalidArgument, "The backend “\(backend)” keeps groups in a state directory, and none is given.",
                at: "stateDirectory")
        }
        return directory
    }
}

/// Opens groups of one backend.
///
/// ```swift
/// struct RedisFactory: BackendFactory {
///     let name = "redis"
///     func open(
///         _ configuration: BackendConfiguration, as description: SessionDescription
///     ) async throws(SharedCoreError) -> any SharedGroup { ... }
/// }
/// ```
public protocol BackendFactory: Sendable {
    /// The name by which a configuration chooses the backend.
    var name: String { get }

    /// The settings of the backend's section in a configuration; none unless the backend says otherwise. `SharedCoreProgram.main(adding:)`
    /// takes them from flags, environment and file, and puts them into ``BackendConfiguration/settings``.
    var settings: [BackendSetting] { get }

    /// The failures that a commit survives if the configuration does not set it; ``Durability/process`` unless the
    /// backend says otherwise. ``BackendConfiguration/durability`` is nil then.
    var durability: Durability { get }

    /// Joins the group that the configuration names.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported`` when a requirement is not met, ``SharedCoreError/Code/forbidden``
    ///   or ``SharedCoreError/Code/unavailable`` when the group cannot be reached.
    func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup

    /// Opens the configured group for reading only, without a session and without a trace (contract L4).
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` if there is no such group; ``SharedCoreError/Code/unsupported``
    ///   if the backend has no readers, as by default.
    func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup
}

extension BackendFactory {
    public var settings: [BackendSetting] { [] }
    public var durability: Durability { .process }

    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        throw SharedCoreError(
            .unsupported, "The backend “\(name)” opens groups to take part only, not to read without a trace.", at: name
        )
    }
}

/// A setting that only one backend knows.
public struct BackendSetting: Hashable, Sendable {
    /// The key, with the backend's name in front: `redis.url`, of which `SHAREDCORE_REDIS_URL` is the variable.
    public var key: String
    /// The default value; nil for none. A default is not put into ``BackendConfiguration/settings``.
    public var fallback: String?
    /// One line for people.
    public var summary: String
    /// True if the value is a path, which is made absolute: a relative one starts from the directory of the file that names it.
    public var isPath: Bool
    /// True if the value is a secret, such as a password. It has no default. Commands print `(secret)` in its place, and so do the
    /// errors of ``BackendRegistry/open(_:as:)``; in errors that an open group throws, the backend leaves it out.
    public var isSecret: Bool

    public init(
        _ key: String, default fallback: String? = nil, _ summary: String, isPath: Bool = false, isSecret: Bool = false
    ) {
        self.key = key
        self.fallback = fallback
        self.summary = summary
        self.isPath = isPath
        self.isSecret = isSecret
    }
}

/// Opens groups in directories, which the processes of one machine share.
public struct FileFactory: BackendFactory {
    public let name = "file"

    public init() {}

    public func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await FileGroup.open(
            directory: configuration.requireDirectory(), as: description,
            options: FileGroupOptions(
                durability: configuration.durability ?? .process, requirements: configuration.requirements))
    }

    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await FileGroup.openToRead(directory: configuration.requireDirectory(), as: description)
    }
}

/// Opens groups in the memory of this process.
public struct MemoryFactory: BackendFactory {
    public let name = "memory"

    private let space: MemorySpace

    /// Makes a factory of groups in memory.
    ///
    /// - Parameter space: The memory of the groups. Factories with the same space open the same groups.
    public init(space: MemorySpace = MemorySpace()) {
        self.space = space
    }

    public func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        var requirements = configuration.requirements
        if let durability = configuration.durability, durability > (requirements.durability ?? .memory) {
            requirements.durability = durability
        }
        return try await space.open(configuration.group, as: description, requirements: requirements)
    }

    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await space.openToRead(configuration.group, as: description)
    }
}

/// Opens groups of a plugin. Its settings are those of ``BackendConfiguration/settings`` with keys that begin with its
/// name.
public struct PluginFactory: BackendFactory {
    private let plugin: BackendPlugin

    public var name: String { plugin.name }

    public var durability: Durability { plugin.durability }

    public var settings: [BackendSetting] {
        plugin.settings.map { setting in
            BackendSetting(
                setting.key, default: setting.fallback, setting.summary, isPath: setting.isPath,
                isSecret: setting.isSecret)
        }
    }

    /// Makes the factory of a loaded plugin.
    ///
    /// - Parameter plugin: The plugin, as ``BackendPlugin/load(_:from:)`` returns it.
    public init(_ plugin: BackendPlugin) {
        self.plugin = plugin
    }

    public func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        _ = try configuration.requireDirectory()
        return try await plugin.open(
            group: configuration.group, stateDirectory: configuration.stateDirectory, values: values(of: configuration),
            durability: configuration.durability, openTimeout: configuration.openTimeout,
            requirements: configuration.requirements, as: description)
    }

    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        _ = try configuration.requireDirectory()
        return try await plugin.openToRead(
            group: configuration.group, stateDirectory: configuration.stateDirectory, values: values(of: configuration),
            openTimeout: configuration.openTimeout, as: description)
    }

    private func values(of configuration: BackendConfiguration) -> [String: String] {
        configuration.settings.filter { $0.key.hasPrefix(name + ".") }
    }
}
