public import Coordination
internal import CoreAPI

/// A process of a simulated group with a Main in it.
public final class SimulatedMain: SimulatedParticipant {
    public let process: SimulatedProcess
    /// The participant. Call it in its process, with ``SimulatedProcess/run(_:)``: during a call from the test no time
    /// passes, and the call never returns if the process is killed.
    public let participant: MainParticipant

    init(_ participant: MainParticipant, in process: SimulatedProcess) {
        self.participant = participant
        self.process = process
    }

    /// Starts it, and lets time pass until it owns and its core runs.
    ///
    /// - Throws: The errors of `MainParticipant.start(takingOver:insisting:reporting:)`.
    public func start(takingOver: Bool = false, insisting: Bool = false) async throws {
        try await starting(takingOver: takingOver, insisting: insisting).value
    }

    /// Begins to start it.
    public func starting(takingOver: Bool = false, insisting: Bool = false) -> SimulatedRun<Void> {
        process.run { [participant] in
            try await participant.start(takingOver: takingOver, insisting: insisting)
        }
    }

    /// Stops it, and lets time pass until it has released.
    public func stop() async throws {
        try await process.run { [participant] in await participant.stop() }.value
    }
}

extension SimulatedGroup {
    /// Adds a process with a Main that runs a scripted core of the group's ``server``.
    public func main(_ name: String, script: CoreScript = CoreScript()) async throws -> SimulatedMain {
        try await main(name) { [server] in ScriptedCore(server, script: script) }
    }

    /// Adds a process with a Main that is not started yet.
    ///
    /// - Parameters:
    ///   - name: Its name, also in the timeline.
    ///   - core: Makes the core for each ownership.
    public func main(
        _ name: String, core: @escaping @Sendable () -> any Core
    ) async throws -> SimulatedMain {
        let process = try await process(.main, name)
        return SimulatedMain(
            try MainParticipant(of: process.group, options: options, environment: process.environment, core: core),
            in: process)
    }
}

/// A process of a simulated group with its participant.
public protocol SimulatedParticipant: Sendable {
    /// The process.
    var process: SimulatedProcess { get }
}

extension SimulatedParticipant {
    /// The name of the process.
    public var name: String { process.name }

    /// Kills its process: ``SimulatedProcess/kill()``.
    public func kill() async { await process.kill() }

    /// Freezes its process: ``SimulatedProcess/freeze()``.
    public func freeze() async { await process.freeze() }

    /// Continues its process.
    public func thaw() async { await process.thaw() }
}
