internal import Coordination
internal import CoreAPI

/// A core that fetches from a ``SharedServer``: it hands each message over, and acknowledges it when that has returned.
struct ServedCore: Core {
    let server: SharedServer
    let settings: PlayerSettings
    /// The life of the process that it plays in.
    let life: SimulatedLife
    /// Given each context in which a core starts.
    let contexts: Box<[CoreContext]>

    func start(in context: CoreContext) async throws {
        contexts.update { $0.append(context) }
        try await pass(.start)
        if settings.fails { throw PeerRefusal("the line is dead") }
        if let bound = settings.section {
            try await context.enterCriticalSection(maximumDuration: bound)
            try await server.pass("section")
            try await context.leaveCriticalSection()
        }
    }

    func iterate(in context: CoreContext) async throws {
        try await pass(.fetch)
        while true {
            for served in try server.waiting() {
                try Task.checkCancellation()
                try await context.deliver(served.message)
                try await pass(.acknowledge)
                // What is dead does nothing more, also where its death is only played.
                if life.isOver { throw CancellationError() }
                try server.acknowledge(served)
            }
            // The server is a directory: whoever waits for news looks again, as over a slow line.
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func stop() async {
        if let gate = settings.gates[.stop] { try? await server.pass(gate) }
    }

    private func pass(_ gate: PlayerSettings.Gate) async throws {
        if let name = settings.gates[gate] { try await server.pass(name) }
    }
}
