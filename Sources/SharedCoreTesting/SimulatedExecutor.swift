public import Coordination
internal import CoreAPI

/// A process of a simulated group with an Executor in it.
public final class SimulatedExecutor: SimulatedParticipant {
    public let process: SimulatedProcess
    /// The participant. Call it in its process, with ``SimulatedProcess/run(_:)``: during a call from the test no time
    /// passes, and the call never returns if the process is killed.
    public let participant: ExecutorParticipant

    init(_ participant: ExecutorParticipant, in process: SimulatedProcess) {
        self.participant = participant
        self.process = process
    }

    /// Begins to wait for the message of a call-id, as a push makes it.
    ///
    /// - Parameters:
    ///   - callID: The call-id that the push announced.
    ///   - timeout: The time that it waits, in the group's time.
    public func message(forCallID callID: String, timeout: Duration) -> SimulatedRun<MessageResult> {
        process.run { [participant] in
            try await participant.message(forCallID: CallID(checking: callID), timeout: timeout)
        }
    }

    /// Acknowledges the message of an answer.
    ///
    /// - Returns: True if this Executor still had the message; false also if there was nothing to show.
    @discardableResult
    public func acknowledge(_ answer: MessageResult) async throws -> Bool {
        guard case .message(let taken) = answer.content else { return false }
        return try await process.run { [participant] in try await participant.acknowledge(taken) }.value
    }

    /// Lets time pass until the Executor has no work left: its core, if it runs, has served all calls and stopped.
    public func finish() async throws {
        try await process.run { [participant] in await participant.finish() }.value
    }
}

extension SimulatedGroup {
    /// Makes a process with an Executor, which runs a scripted core of the group's ``server`` when necessary.
    public func executor(_ name: String, script: CoreScript = CoreScript()) async throws -> SimulatedExecutor {
        try await executor(name) { [server] in ScriptedCore(server, script: script) }
    }

    /// Adds a process with an Executor.
    ///
    /// - Parameters:
    ///   - name: Its name, on the timeline too.
    ///   - core: Makes the core for each ownership.
    public func executor(
        _ name: String, core: @escaping @Sendable () -> any Core
    ) async throws -> SimulatedExecutor {
        let process = try await process(.executor, name)
        return SimulatedExecutor(
            try ExecutorParticipant(
                of: process.group, options: options, environment: process.environment, core: core),
            in: process)
    }
}

extension MessageResult {
    /// The text to show; nil if there is none.
    public var text: String? {
        guard case .message(let taken) = content, taken.message.content.kind == .text else { return nil }
        return taken.message.content.text
    }
}
