import Coordination
import CoreAPI
import CoreAPITesting
import TestSupport

/// A core that fetches from a ``MailServer``, with the misbehaviour that a test wants.
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

    let server: MailServer
    let gauge: CoreGauge
    let process: SimulatedProcess
    let script: Script
    private let epoch = Box<Revision?>(nil)

    init(server: MailServer, gauge: CoreGauge, process: SimulatedProcess, script: Script) {
        self.server = server
        self.gauge = gauge
        self.process = process
        self.script = script
    }

    /// A core of a process of its own that does nothing special.
    static func idle(in world: World) -> ScriptedCore {
        ScriptedCore(
            server: MailServer(), gauge: CoreGauge(), process: world.processes.start(), script: ScriptedCore.Script())
    }

    func start(in context: CoreContext) async throws {
        epoch.update { $0 = context.epoch }
        gauge.begin(context.epoch, in: process)
        await script.start?.pass()
        if let failure = script.failure { throw failure }
        try await script.onStart?(context)
    }

    func iterate(in context: CoreContext) async throws {
        await script.fetch?.pass()
        while true {
            try Task.checkCancellation()
            let version = server.version
            for message in server.pending {
                try await context.deliver(message)
                await script.acknowledge?.pass()
                if process.isDead { throw CancellationError() }
                server.acknowledge(message.callID)
            }
            if script.endsByItself, server.pending.isEmpty { return }
            await server.news(after: version)
        }
    }

    func stop() async {
        await script.stop?.pass()
        if let epoch = epoch.value { gauge.end(epoch) }
    }
}
