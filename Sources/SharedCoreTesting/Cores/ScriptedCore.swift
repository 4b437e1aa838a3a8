public import Coordination
internal import TestInstruments

/// A core that does what a test says: it hands over what its server receives, acknowledges it there when it is stored, and
/// hangs or fails where its script has it so.
public struct ScriptedCore: Core {
    private let server: ScriptedServer
    private let script: CoreScript
    /// What it was started with; its stop is not given it again.
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
            await server.news(after: version)
        }
    }

    public func stop() async {
        guard let context = context.value else { return }
        do {
            try await script.pass(.stop, in: context)
        } catch {
            // A core's stop throws nothing.
            await context.report("\(error)")
        }
    }
}
