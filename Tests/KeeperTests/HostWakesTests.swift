internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import TestSupport
internal import Testing

extension KeeperTests {
    /// The host as the holder, with a real keeper and a real Main.
    @Suite("C26: the host wakes a Main that rests", .serialized)
    struct HostWakesTests {
        private let group: SupervisedGroup
        private var stage: KeeperStage { group.stage }

        init() throws {
            group = try SupervisedGroup(isMember: true)
        }

        /// Starts a host, and waits until its Main rests and sleeps.
        private func restingMain() async throws {
            try group.serve(["SHAREDCORE_WAKE_BOUND": "30s"])
            try await stage.untilNoted("owns")
            try await group.server.send("rest")
            try await stage.untilNoted("sleeps")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
        }

        @Test("A push wakes it before an Executor is started, and its keeper is told")
        func push() async throws {
            try await restingMain()
            let command = try group.run(["status"])
            var status: [String] = []
            while let line = try await command.nextLine() { status.append(line) }
            #expect(status.contains { $0.hasPrefix("rests     main “") && $0.hasSuffix("owns for it") }, "\(status)")
            #expect(await (try group.run(["push", "call-1"])).end() == .exited(0))
            try await stage.untilNoted("core resumes: push")
            try await stage.until("its keeper was told") { $0.presence == "woken" }
            #expect(stage.notes.count { $0 == "core starts" } == 1)
        }

        @Test("A keep-alive that is due wakes it")
        func keepAlive() async throws {
            try await restingMain()
            // A wake that was due before the start of the machine is due now.
            var machine = KeepAliveMachine()
            try machine.add(handler: "ping", every: KeepAliveRules.minimumInterval, at: SystemClock().now())
            let record = machine.record(on: BootID(high: 1, low: 1))
            let handle = try await FileGroup.open(
                directory: group.groupDirectory, as: SessionDescription(role: .tool, name: "test"))
            try await KeepAliveRecords(handle).keep(record, as: "main")
            try await stage.untilNoted("core resumes: keepAlive")
            await handle.close()
        }
    }
}
