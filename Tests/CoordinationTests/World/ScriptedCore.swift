import Coordination
import CoreAPI
import CoreAPITesting
import SharedCoreTesting
import Synchronization
import TestSupport

/// A scripted core that counts its runs, with the misbehaviour that a test chooses.
struct ScriptedCore: Core {
    /// The behaviour of a core beyond fetching and delivering messages.
    struct Script: Sendable {
        /// The start of the core waits for this.
        var start: Promise<Void>?
        /// Thrown by its start.
        var failure: CoreFailure?
        /// The stop of the core waits for this.
        var stop: Promise<Void>?
        /// Called with the request to stop.
        var onStop: (@Sendable (StopRequest) -> Void)?
        /// Runs when it stops.
        var stopping: (@Sendable () async -> Void)?
        /// The core waits for this promise before it fetches.
        var fetch: Promise<Void>?
        /// The core waits for this between the commit of a message and the acknowledgement to the server.
        var acknowledge: Promise<Void>?
        /// Called with each context in which a core has started.
        var onStart: (@Sendable (CoreContext) async throws -> Void)?
        /// Makes the core quiet; nil for a core that cannot rest.
        var onRest: (@Sendable (CoreContext) async throws -> Void)?
        /// Runs when it resumes.
        var onResume: (@Sendable (CoreContext, Wake) async throws -> Void)?
        /// True if the core ends by itself when there is nothing left to fetch.
        var endsByItself = false
    }

    struct CoreFailure: Error, CustomStringConvertible {
        let description: String
    }

    private let core: SharedCoreTesting.ScriptedCore
    private let gauge: CoreGauge
    private let mayStop: Promise<Void>?
    private let onStop: (@Sendable (StopRequest) -> Void)?
    private let stopping: (@Sendable () async -> Void)?
    private let onRest: (@Sendable (CoreContext) async throws -> Void)?
    private let onResume: (@Sendable (CoreContext, Wake) async throws -> Void)?
    private let epoch: Box<Revision?>

    init(server: ScriptedServer, gauge: CoreGauge, process: SimulatedProcess, script: Script) {
        self.gauge = gauge
        let epoch = Box<Revision?>(nil)
        let steps = CoreScript()
        steps.act(at: .start) { context in
            epoch.update { $0 = context.epoch }
            gauge.begin(context.epoch, in: process)
            await script.start?.pass()
            if let failure = script.failure { throw failure }
            try await script.onStart?(context)
        }
        steps.act(at: .fetch) { _ in await script.fetch?.pass() }
        steps.act(at: .acknowledge) { _ in
            await script.acknowledge?.pass()
            if process.hasEnded { throw CancellationError() }
        }
        if script.endsByItself { steps.endByItself() }
        self.epoch = epoch
        mayStop = script.stop
        onStop = script.onStop
        stopping = script.stopping
        onRest = script.onRest
        onResume = script.onResume
        core = SharedCoreTesting.ScriptedCore(server, script: steps)
    }

    /// A core of a process of its own that does nothing special.
    static func idle(in world: World) -> ScriptedCore {
        ScriptedCore(
            server: ScriptedServer(), gauge: CoreGauge(), process: world.processes.start(),
            script: ScriptedCore.Script())
    }

    func start(in context: CoreContext) async throws {
        try await core.start(in: context)
    }

    func iterate(in context: CoreContext) async throws {
        try await core.iterate(in: context)
    }

    func rest(in context: CoreContext) async throws {
        guard let onRest else { throw SharedCoreError(.unsupported, "This core is never quiet.", at: "core") }
        try await onRest(context)
    }

    func resume(in context: CoreContext, for wake: Wake) async throws {
        try await onResume?(context, wake)
    }

    func stop(_ request: StopRequest) async {
        onStop?(request)
        await stop()
    }

    func stop() async {
        await mayStop?.pass()
        await stopping?()
        await core.stop()
        if let epoch = epoch.value { gauge.end(epoch) }
    }
}

/// Counts the cores that really run.
final class CoreGauge: Sendable {
    struct Run: Hashable {
        let epoch: Revision
        let process: ProcessIdentity
    }

    private struct State {
        var running: [(run: Run, process: SimulatedProcess)] = []
        var starts: [Run] = []
        var overlaps: [[Revision]] = []
    }

    private let state = Mutex(State())

    /// Every core that began to start, in order.
    var starts: [Run] { state.withLock(\.starts) }

    /// The epochs of the cores that run in living processes.
    var running: [Revision] {
        state.withLock { $0.running.filter { !$0.process.hasEnded }.map(\.run.epoch) }
    }

    /// The epochs that were running each time a core began while another ran.
    var overlaps: [[Revision]] { state.withLock(\.overlaps) }

    func begin(_ epoch: Revision, in process: SimulatedProcess) {
        state.withLock { state in
            let others = state.running.filter { !$0.process.hasEnded }.map(\.run.epoch)
            if !others.isEmpty { state.overlaps.append(others + [epoch]) }
            let run = Run(epoch: epoch, process: process.identity)
            state.running.append((run, process))
            state.starts.append(run)
        }
    }

    func end(_ epoch: Revision) {
        state.withLock { $0.running.removeAll { $0.run.epoch == epoch } }
    }
}
