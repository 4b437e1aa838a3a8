/// A process of a simulated group with its participant.
public protocol SimulatedParticipant: Sendable {
    /// The process.
    var process: SimulatedProcess { get }
}

extension SimulatedParticipant {
    /// Its name.
    public var name: String { process.name }

    /// Kills its process: ``SimulatedProcess/kill()``.
    public func kill() async { await process.kill() }

    /// Freezes its process: ``SimulatedProcess/freeze()``.
    public func freeze() async { await process.freeze() }

    /// Lets its process go on.
    public func thaw() async { await process.thaw() }
}
