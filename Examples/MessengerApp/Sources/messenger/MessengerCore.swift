import Coordination

/// What the author of a core writes: one protocol, and here a connection to a toy server.
struct MessengerCore: Core {
    let server: MessengerServer

    func start(in context: CoreContext) async throws {
        try server.connect()
    }

    func iterate(in context: CoreContext) async throws {
        while true {
            for message in try server.waiting() {
                try await context.deliver(message)
                // Only now is it stored for whoever asks for it, so only now may the server forget it.
                try server.acknowledge(message.callID)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func stop() async {
        server.disconnect()
    }
}
