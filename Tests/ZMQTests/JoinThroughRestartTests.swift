internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    @Suite("A hub starts again while a client joins")
    struct JoinThroughRestartTests {
        @Test("within a process: the state that the former hub did not send is asked for when the next one is heard")
        func welcomeBeforeEcho() async throws {
            let stage = try HubStage()
            let endpoint = HubEndpoint.inproc(name: stage.directory.path)
            let order = MemorySpace().order(of: "group", effectByteCount: 1 << 20)
            let options = HubOptions(group: "group", storage: .memory(MemorySpace()), endpoints: [endpoint])
            let first = try HubService(order: order, options: options)
            _ = try await first.start()
            // Including those that it requests when it sends hello again.
            let silence = FailPoint.arm("hub.state:fail*")
            defer { silence.disarm() }
            let link = try HubLink(
                to: endpoint, group: "group", as: SessionDescription(),
                options: ZMQGroupOptions(openTimeout: TestTimeout.usual))
            let joining = Task { try await link.join().0.session.id }
            try await eventually("the state is asked for") { await link.hasAsked }
            await first.stop()

            silence.disarm()
            let deafness = FailPoint.arm("hub.echo:fail")
            defer { deafness.disarm() }
            let second = try HubService(order: order, options: options)
            _ = try await second.start()
            try await eventually("the next hub has seen the subscription") { !FailPoint.isActive("hub.echo") }
            try await eventually("the next hub has welcomed the client") { await link.isWelcomedAgain }
            await second.echo(link.mark)
            let session = try await withTimeout(TestTimeout.usual, "the join ends") { try await joining.value }
            #expect(order.replica.read { Array($0.sessions.keys) } == [session])
            await link.close()
            await second.stop()
        }
    }
}

extension HubLink {
    fileprivate var hasAsked: Bool { isArmed && catchUp != nil }
    /// True if a hub has welcomed the client, and the client does not receive the hub's stream yet.
    fileprivate var isWelcomedAgain: Bool {
        guard case .joined = phase else { return false }
        return !isArmed
    }
}

extension HubService {
    /// Echoes a client's mark, as it does when it sees the subscription.
    fileprivate func echo(_ mark: [UInt8]) {
        for hubListener in hubListeners { _ = hubListener.stream.send([StreamMessage.armed(mark).bytes]) }
    }
}
