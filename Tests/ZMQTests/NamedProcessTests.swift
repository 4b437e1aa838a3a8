internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import Coordination
@testable import ZMQBackend

extension ZMQTests {
    /// A record of a process proves nothing: a participant can write any process id.
    @Suite("Records that name a stranger")
    struct NamedProcessTests {
        private struct IdleCore: Core {
            func start(in context: CoreContext) async throws {}
            func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3600)) }
            func stop() async {}
        }

        /// The way in which the owner and the Main reach the group.
        enum Way: CaseIterable {
            case socket
            /// The owner over the network.
            case port
            /// The Main by the files that the hub works on.
            case files
        }

        @Test(
            "C3: a Main fences an owner whose record names a process that the hub has not seen, and kills none",
            arguments: Way.allCases)
        func fenced(way: Way) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub(at: [stage.endpoint, .tcp(host: "127.0.0.1", port: 0)])
            let victim = try ChildProcess("/bin/sleep", ["600"])
            let named = try #require(ProcessIdentity(of: victim.pid))
            let intruder = try await stage.client(at: hub.endpoints[way == .port ? 1 : 0])
            #expect(
                (intruder.session.process == .current) == (way != .port),
                "what nothing proves is of no run of this machine")
            let record = OwnerRecord(
                role: .executor, state: .running, name: "intruder", process: named, since: SystemClock().now(),
                processNamespace: ProcessIdentity.currentNamespace)
            try await intruder.put(OwnershipKey.owner, record.bytes, lifetime: .session)

            let description = SessionDescription(role: .main)
            let client: any SharedGroup =
                if way == .files {
                    try await FileGroup.open(directory: stage.files, as: description)
                } else {
                    try await ZMQGroup.open(
                        hub.endpoints[0], group: "group", as: description,
                        options: ZMQGroupOptions(openTimeout: TestTimeout.usual, requestTimeout: TestTimeout.usual))
                }
            var options = CoordinationOptions(
                handoverTimeout: .milliseconds(100), handoverMaximumTimeout: .milliseconds(200),
                stopTimeout: .milliseconds(100))
            options.answerBound = .milliseconds(100)
            let main = try MainParticipant(of: client, options: options) { IdleCore() }
            try await withTimeout(TestTimeout.usual, "it owns") { try await main.start() }

            // Only a live process can be stopped.
            victim.signal(.stop)
            try await eventually("the stranger lives") { victim.isStopped }
            await main.stop()
            await client.close()
            await intruder.close()
            await hub.stop()
        }
    }
}
