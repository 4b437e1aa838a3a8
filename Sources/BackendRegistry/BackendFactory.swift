public import CoreAPI
internal import FileNotifyBackend
public import InMemoryBackend

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

    /// Joins the group that the configuration names.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported`` when a requirement is not met, ``SharedCoreError/Code/forbidden``
    ///   or ``SharedCoreError/Code/unavailable`` when the group cannot be reached.
    func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup

    /// Opens the group that the configuration names to read it, without a session and without a trace (contract L4).
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` where there is no such group; ``SharedCoreError/Code/unsupported``, which is
    ///   the default, where the backend has no readers.
    func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup
}

extension BackendFactory {
    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        throw SharedCoreError(
            .unsupported, "The backend “\(name)” opens groups to take part only, not to read without a trace.", at: name
        )
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
            directory: configuration.directory, as: description,
            options: FileGroupOptions(
                durability: configuration.durability ?? .process, requirements: configuration.requirements))
    }

    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await FileGroup.openToRead(directory: configuration.directory, as: description)
    }
}

/// Opens groups in the memory of this process.
public struct MemoryFactory: BackendFactory {
    public let name = "memory"

    private let space: MemorySpace

    /// - Parameter space: Where the groups live. Factories that are given the same space open the same groups.
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
