internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    @Suite("A hub's end")
    struct HubEndTests {
        private struct Trace<Object: AnyObject> {
            weak var object: Object?
        }

        @Test("nothing of a hub outlives it, whether it was stopped or let go", arguments: [true, false])
        func nothingIsLeft(isStopped: Bool) async throws {
            let order = MemorySpace().order(of: "group", effectByteCount: 1 << 20)
            let name = "inproc://end-\(isStopped)"
            func run() async throws -> Trace<HubService> {
                let options = HubOptions(
                    group: "group", storage: .memory(MemorySpace()), endpoints: [try HubEndpoint(name)])
                let service = try HubService(order: order, options: options)
                let hub = Hub(endpoints: try await service.start(), service: service, locks: [])
                if isStopped { await hub.stop() }
                return Trace(object: service)
            }
            let trace = try await run()
            try await eventually("the hub is gone") { trace.object == nil }
        }

        @Test("a service that is let go without its end leaves a thread with nothing to do")
        func neverStopped() async throws {
            let order = MemorySpace().order(of: "group", effectByteCount: 1 << 20)
            func run() async throws -> (Trace<HubService>, SocketThread) {
                let options = HubOptions(
                    group: "group", storage: .memory(MemorySpace()), endpoints: [try HubEndpoint("inproc://let-go")])
                let service = try HubService(order: order, options: options)
                _ = try await service.start()
                return (Trace(object: service), service.thread)
            }
            let (trace, thread) = try await run()
            try await eventually("the service is gone") { trace.object == nil }
            // A thread that acts in the thread's place asks for the service's next deadline.
            await withCheckedContinuation { continuation in thread.act { continuation.resume() } }
        }
    }
}
