internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing
internal import ZMQBackend

/// The promises that hold while the hub is stopped and answers no client.
struct FrozenHubTests {
    /// A core that has nothing to fetch.
    private struct IdleCore: Core {
        func start(in context: CoreContext) async throws {}
        func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3600)) }
        func stop() async {}
    }

    /// The time for which a request to the hub waits for its answer.
    private static let requestTimeout = Duration.seconds(100)
    /// The time for which the message is waited for, and the time that a busy machine may add to that and to a close.
    private static let deadline = Duration.seconds(12)
    private static let stopTimeout = Duration.seconds(1)
    private static let slack = Duration.seconds(20)

    @Test(
        "C7, S10: a wait ends at its deadline with a timeout, and a close at its bound",
        .enabled(if: TestScope.isCheck), .timeLimit(.minutes(10)))
    func frozenHub() async throws {
        let directory = try TemporaryDirectory()
        let endpoint = HubEndpoint.ipc(path: directory.path(of: "hub"))
        let hub = try ChildProcess(
            try ChildProcess.built("sharedcore-test-peer"),
            ["hub", endpoint.description, directory.path(of: "group"), "3000"])
        try await eventually("the hub listens") { !hub.lines.isEmpty }
        let group = try await ZMQGroup.open(
            endpoint, group: "group", as: SessionDescription(role: .executor),
            options: ZMQGroupOptions(openTimeout: TestTimeout.usual, requestTimeout: Self.requestTimeout))
        let executor = try ExecutorParticipant(
            of: group, options: CoordinationOptions(stopTimeout: Self.stopTimeout)
        ) { IdleCore() }
        let callID = try #require(CallID("call-1"))
        let wait = Task { try await executor.message(forCallID: callID, timeout: Self.deadline) }
        try await eventually("it owns") { await executor.epoch != nil }

        hub.signal(.stop)

        let clock = ContinuousClock()
        let frozen = clock.now
        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        #expect(error?.code == .timeout)
        #expect(clock.now - frozen < Self.deadline + Self.slack)
        let closing = clock.now
        await executor.close()
        #expect(clock.now - closing < Self.stopTimeout + Self.slack)
        hub.signal(.continue)
        await group.close()
    }
}
