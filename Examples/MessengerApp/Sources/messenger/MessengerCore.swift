import SharedCore

/// The part that the author of a core writes: one protocol, and here a connection to a toy server.
struct MessengerCore: Core {
    let server: MessengerServer
    /// A parameter, so that tests decide what time it is.
    var clock: any TimeSource = SystemClock()

    func start(in context: CoreContext) async throws {
        try server.connect()
    }

    func iterate(in context: CoreContext) async throws {
        while true {
            for message in try server.waiting() {
                try await context.deliver(message)
                // Only now is it stored for each process that asks, so only now may the server forget it.
                try server.acknowledge(message.callID)
            }
            try await clock.sleep(until: clock.now().advanced(by: .milliseconds(20)))
        }
    }

    func stop() async {
        server.disconnect()
    }
}
