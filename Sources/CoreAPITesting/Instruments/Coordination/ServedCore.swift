package import Coordination
internal import CoreAPI

/// A core that fetches from a ``SharedServer``: it hands each message over, and acknowledges it when that has returned.
struct ServedCore: Core {
    let server: SharedServer
    let settings: PlayerSettings
    /// The life of the process that it plays in.
    let life: SimulatedLife
    /// Given each context in which a core starts.
    let contexts: Box<[CoreContext]>
    /// Collects the stop request of each core.
    let requests: Box<[StopRequest]>

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
                // A dead core does nothing more, also where its death is only simulated.
                if life.isOver { throw CancellationError() }
                try server.acknowledge(served)
            }
            // The server is a directory: a core that waits for updates polls it, as over a slow line.
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func stop(_ request: StopRequest) async {
        requests.update { $0.append(request) }
        await stop()
    }

    func stop() async {
        if let gate = settings.gates[.stop] { try? await server.pass(gate) }
    }

    private func pass(_ gate: PlayerSettings.Gate) async throws {
        if let name = settings.gates[gate] { try await server.pass(name) }
    }
}

/// A message as a ``SharedServer`` keeps it: lines of text.
package struct ServedMessage: Hashable, Sendable {
    /// The name of its file.
    package let name: String
    package let message: InboxMessage

    init(name: String, message: InboxMessage) {
        self.name = name
        self.message = message
    }

    /// Nil for a text of another form.
    init?(name: String, text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count >= 2, let callID = CallID(lines[1]) else { return nil }
        switch (lines[0], lines.count) {
        case ("text", 5):
            message = InboxMessage(callID: callID, content: .text(from: lines[2], to: lines[3], text: lines[4]))
        case ("invitation", 5):
            message = InboxMessage(
                callID: callID, content: .invitation(from: lines[2], subject: lines[3], localAddress: lines[4]))
        case ("tooLarge", 4):
            message = InboxMessage(callID: callID, content: .tooLarge(from: lines[2], to: lines[3]))
        case ("nothing", 2):
            message = InboxMessage(callID: callID, content: .nothingToShow)
        default:
            return nil
        }
        self.name = name
    }

    var text: String {
        switch message.content {
        case .text(let from, let to, let text): ["text", message.callID.text, from, to, text].joined(separator: "\n")
        case .invitation(let from, let subject, let address):
            ["invitation", message.callID.text, from, subject, address].joined(separator: "\n")
        case .tooLarge(let from, let to): ["tooLarge", message.callID.text, from, to].joined(separator: "\n")
        case .nothingToShow: ["nothing", message.callID.text].joined(separator: "\n")
        }
    }
}
