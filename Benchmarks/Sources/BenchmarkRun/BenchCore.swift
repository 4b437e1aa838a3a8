package import Coordination
package import CoreAPI
internal import Platform

/// The core of measured hand-overs: it takes a while to start, hands over all messages of its server, a directory with
/// a file for each, and stops at once.
package struct BenchCore: Core {
    private let server: String?
    private let startDelay: Duration

    package init(server: String? = nil, startDelay: Duration = .zero) {
        self.server = server
        self.startDelay = startDelay
    }

    package func start(in context: CoreContext) async throws {
        if startDelay > .zero { try await Task.sleep(for: startDelay) }
    }

    package func iterate(in context: CoreContext) async throws {
        if let server {
            for name in try Directory(path: server).names() {
                guard let callID = CallID(name) else { continue }
                let text = String(
                    decoding: try OpenFile(path: server + "/" + name, .read).read(count: 4096, at: 0), as: UTF8.self)
                try await context.deliver(
                    InboxMessage(callID: callID, content: .text(from: "bench", to: "bench", text: text)))
            }
        }
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    package func stop() async {}
}

/// A participant of a group as it is measured: it owns, or it gets a message.
package struct BenchParticipation: Sendable {
    /// Becomes the owner; returns when the core runs.
    package let own: @Sendable () async throws -> Void
    /// Gets a message as a process does that a push woke.
    package let message: @Sendable (CallID) async throws -> Void
    /// Serves others as long as they wait for this one's core, as a process does before it ends.
    package let finish: @Sendable () async -> Void
    /// Lets go.
    package let close: @Sendable () async -> Void

    package init(in group: any SharedStore, core: BenchCore, environment: CoordinationEnvironment) throws {
        if group.session.role == .main {
            let main = try MainParticipant(of: group, environment: environment) { core }
            own = { try await main.start() }
            message = { _ in }
            finish = {}
            close = { await main.stop() }
        } else {
            let executor = try ExecutorParticipant(of: group, environment: environment) { core }
            own = { try await executor.start() }
            message = { callID in
                let answer = try await executor.message(forCallID: callID, timeout: .seconds(120))
                if case .message(let taken) = answer.content { try await executor.acknowledge(taken) }
            }
            finish = { await executor.finish() }
            close = { await executor.close() }
        }
    }
}
