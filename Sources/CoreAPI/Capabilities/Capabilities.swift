/// What an open group promises.
public struct Capabilities: Hashable, Sendable {
    /// The backend's name, for people.
    public let backend: String
    /// The promises that it keeps.
    public let features: Set<Capability>
    /// What a commit survives.
    public let durability: Durability
    /// The sizes that it accepts.
    public let limits: Limits
    /// How a participant that waits is woken.
    public let wakeUp: WakeUp

    public init(
        backend: String, features: Set<Capability>, durability: Durability, limits: Limits, wakeUp: WakeUp = .direct
    ) {
        self.backend = backend
        self.features = features
        self.durability = durability
        self.limits = limits
        self.wakeUp = wakeUp
    }

    /// Refuses what cannot be kept, for a backend to call when a group is opened.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported``, naming every requirement that is not met.
    public func satisfy(_ requirements: Requirements) throws(SharedCoreError) {
        var missing = requirements.features.subtracting(features).map(\.rawValue).sorted()
        if let required = requirements.durability, durability < required {
            missing.append("durability \(required.rawValue)")
        }
        guard missing.isEmpty else {
            throw SharedCoreError(
                .unsupported, "The backend \(backend) does not promise: \(missing.joined(separator: ", ")).",
                at: backend)
        }
    }
}
