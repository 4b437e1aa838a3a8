import Coordination
import CoreAPI
import Platform
import SharedCoreTesting

/// A core that asks its server every five seconds.
struct PollingCore: Core {
    let server: ScriptedServer
    var clock: any TimeSource = SystemClock()

    func start(in context: CoreContext) async throws {}

    func iterate(in context: CoreContext) async throws {
        while true {
            for message in server.pending {
                try await context.deliver(message)
                server.acknowledge(message.callID)
            }
            try await clock.sleep(until: clock.now().advanced(by: .seconds(5)))
        }
    }

    func stop() async {}
}
