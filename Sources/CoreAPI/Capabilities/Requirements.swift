/// What a caller needs of a group. A backend that cannot give it refuses at open.
public struct Requirements: Hashable, Sendable {
    /// No requirement beyond the contract's common part.
    public static let none = Requirements()

    /// The promises that the caller relies on.
    public var features: Set<Capability>
    /// The least that a commit must survive.
    public var durability: Durability?

    public init(features: Set<Capability> = [], durability: Durability? = nil) {
        self.features = features
        self.durability = durability
    }
}
