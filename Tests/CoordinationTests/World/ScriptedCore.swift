import Coordination
import CoreAPI
import CoreAPITesting
import SharedCoreTesting
import TestSupport

/// A scripted core whose runs are counted, with the misbehaviour that a test wants.
struct ScriptedCore: Core {
    /// What a core does besides its job.
    struct Script: Sendable {
        /// What its start waits for.
        var start: Latch?
        /// Thrown by its start.
        var failure: CoreFailure?
        /// What its stop waits for.
        var stop: Latch?
        /// What it waits for before it fetches.
        var fetch: Latch?
        /// What it waits for between the commit of a message and its acknowledgement to the server.
        var acknowledge: Latch?
        /// Given each context in which a core has started.
        var onStart: (@Sendable (CoreContext) async throws -> Void)?
        /// Whether the core ends by itself when there is nothing left to fetch.
        var endsByItself = false
    }

    struct CoreFailure: Error, CustomStringConvertible {
        let description: String
    }

    private let core: SharedCoreTesting.ScriptedCore
    private let gauge: CoreGauge
    private let mayStop: Latch?
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
            if process.isDead { throw CancellationError() }
        }
        if script.endsByItself { steps.endByItself() }
        self.epoch = epoch
        mayStop = script.stop
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

    func stop() async {
        await mayStop?.pass()
        await core.stop()
        if let epoch = epoch.value { gauge.end(epoch) }
    }
}
