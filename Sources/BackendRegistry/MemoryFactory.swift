public import CoreAPI
public import InMemoryBackend

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
}
