internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import TestSupport
internal import Testing
internal import ZMQBackend

/// What holds while the hub is stopped and answers nobody.
struct FrozenHubTests {
    /// A core that has nothing to fetch.
    private struct IdleCore: Core {
        func start(in context: CoreContext) async throws {}
        func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3600)) }
        func stop() async {}
    }

    /// How long a request to the hub waits for its answer.
    private static let requestTimeout = Duration.seconds(100)
    /// Far less than that, and far more than a busy machine needs.
    private static let limit = Duration.seconds(60)

    @Test("C7, S10: a wait ends at its deadline with a timeout, and a close at its bound", .timeLimit(.minutes(5)))
    func frozenHub() async throws {
        let directory = try TemporaryDirectory()
        let endpoint = HubEndpoint.ipc(path: directory.path(of: "hub"))
        let hub = try ChildProcess(
            try ChildProcess.built("sharedcore-test-peer"),
            ["hub", endpoint.description, directory.path(of: "group"), "3000"])
        try await eventually("the hub listens") { !hub.lines.isEmpty }
        let group = try await ZMQGroup.open(
            endpoint, group: "group", as: SessionDescription(role: .executor),
            options: ZMQGroupOptions(openTimeout: Patience.usual, requestTimeout: Self.requestTimeout))
        let executor = try ExecutorParticipant(
            of: group, options: CoordinationOptions(stopBound: .seconds(1))
        ) { IdleCore() }
        let callID = try #require(CallID("call-1"))
        let wait = Task { try await executor.message(forCallID: callID, deadline: .seconds(12)) }
        try await eventually("it owns") { await executor.epoch != nil }

        hub.signal(SIGSTOP)

        let clock = ContinuousClock()
        let frozen = clock.now
        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        #expect(error?.code == .timeout)
        #expect(clock.now - frozen < Self.limit)
        let closing = clock.now
        await executor.close()
        #expect(clock.now - closing < Self.limit)
        hub.signal(SIGCONT)
        await group.close()
    }
}
