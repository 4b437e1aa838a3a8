public import Coordination
internal import CoreAPI
internal import Synchronization
internal import TestInstruments

/// A core under a test's control: it delivers the messages of its server, acknowledges each to the server when it is
/// stored, and hangs or fails at the steps that its script sets.
public struct ScriptedCore: Core {
    private let server: ScriptedServer
    private let script: CoreScript
    /// The context of its start, since its stop has no parameter for it.
    private let context = Box<CoreContext?>(nil)

    public init(_ server: ScriptedServer, script: CoreScript = CoreScript()) {
        self.server = server
        self.script = script
    }

    public func start(in context: CoreContext) async throws {
        self.context.update { $0 = context }
        try await script.pass(.start, in: context)
    }

    public func iterate(in context: CoreContext) async throws {
        try await script.pass(.fetch, in: context)
        while true {
            try Task.checkCancellation()
            let version = server.version
            for message in server.pending {
                try await context.deliver(message)
                try await script.pass(.acknowledge, in: context)
                server.acknowledge(message.callID)
            }
            if script.endsByItself, server.pending.isEmpty { return }
            await server.waitForUpdate(after: version)
        }
    }

    public func stop() async {
        guard let context = context.value else { return }
        do {
            try await script.pass(.stop, in: context)
        } catch {
            // A core's stop cannot throw, so the error is reported.
            await context.report("\(error)")
        }
    }
}

/// The misbehaviour of a ``ScriptedCore``: none, until a test sets some.
///
/// One script applies to the cores of one process, or of several processes.
public final class CoreScript: Sendable {
    /// A step at which cores hang, and the processes of the hanging cores.
    private struct Hang {
        let end = Promise<Void>()
        var processes: [ProcessIdentity] = []
    }

    private struct State {
        var hangs: [CoreStep: Hang] = [:]
        var failures: [CoreStep: CoreFailure] = [:]
        var actions: [CoreStep: @Sendable (CoreContext) async throws -> Void] = [:]
        var endsByItself = false
        var startCount = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// Makes each core that reaches a step hang there, even if it is told to stop, until ``resume(at:)``.
    public func hang(at step: CoreStep) {
        state.withLock { $0.hangs[step] = $0.hangs[step] ?? Hang() }
    }

    /// Continues the cores that hang at a step. Later cores pass it.
    public func resume(at step: CoreStep) {
        state.withLock { $0.hangs.removeValue(forKey: step) }?.end.open()
    }

    /// Returns whether a core hangs at a step now. A core in a killed process does not count.
    public func isHanging(at step: CoreStep) -> Bool {
        state.withLock { $0.hangs[step]?.processes.contains { !ProcessExecutor.wasKilled($0) } ?? false }
    }

    /// Makes each core that reaches a step fail there; nil ends that. A stop cannot fail: there the reason is written
    /// to the timeline as a problem.
    public func fail(at step: CoreStep, because reason: String?) {
        state.withLock { $0.failures[step] = reason.map(CoreFailure.init) }
    }

    /// Makes each core that reaches a step run an action. An error of the action is the core's failure or, at its stop,
    /// a problem on the timeline.
    ///
    /// ```swift
    /// script.act(at: .start) { try await $0.enterCriticalSection(maximumDuration: .seconds(2)) }
    /// ```
    public func act(at step: CoreStep, _ action: @escaping @Sendable (CoreContext) async throws -> Void) {
        state.withLock { $0.actions[step] = action }
    }

    /// Makes a core end by itself when its server has no more messages.
    public func endByItself() {
        state.withLock { $0.endsByItself = true }
    }

    /// The number of cores that have begun to start.
    public var startCount: Int { state.withLock(\.startCount) }

    var endsByItself: Bool { state.withLock(\.endsByItself) }

    /// Runs the actions of a step for a core, then its hang, then its failure.
    func pass(_ step: CoreStep, in context: CoreContext) async throws {
        let action = state.withLock { state in
            if step == .start { state.startCount += 1 }
            return state.actions[step]
        }
        if let action { try await action(context) }
        let hang = state.withLock { state in
            state.hangs[step]?.processes.append(context.store.session.process)
            return state.hangs[step]
        }
        await hang?.end.pass()
        if let failure = state.withLock({ $0.failures[step] }) { throw failure }
    }
}

/// A step in the life of a scripted core at which a test can make it misbehave.
public enum CoreStep: Hashable, Sendable, CaseIterable {
    /// In its `start`, before that returns.
    case start
    /// Before its first request to its server.
    case fetch
    /// Between the storing of a message and its acknowledgement to the server.
    case acknowledge
    /// In its `stop`, before that returns.
    case stop
}

/// The error of a scripted core that was made to fail.
public struct CoreFailure: Error, Hashable, CustomStringConvertible {
    /// The reason that the test gave.
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
}
