internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// Executors that reach their group through a hub.
@Suite(.serialized)
struct HubTests {
    @Test("The demo over a hub is as it should be", .timeLimit(.minutes(10)))
    func demo() async throws {
        let demo = try ChildProcess(
            try ChildProcess.built("sharedcore"), ["--backend", "zmq", "demo"],
            environment: [
                // A busy machine may need longer than Main's timeout.
                "SHAREDCORE_HANDOVER_TIMEOUT": "30s", "SHAREDCORE_HANDOVER_MAXIMUM_TIMEOUT": "60s",
            ])
        #expect(await demo.end() == .exited(0), "\(demo.lines)")
        #expect(demo.lines.contains("As it should be."))
    }

    @Test(
        "The hub is killed while Executors wait; they start another, and nothing is lost",
        .timeLimit(.minutes(10)))
    func killedHub() async throws {
        let post = try Post(startMilliseconds: 100)
        // This process's handle of the group goes to the files, in any state of the hub.
        let group = try await post.open()
        var processes: [String: ChildProcess] = [:]
        for round in 1...3 {
            for number in 1...4 {
                let callID = "\(round)-\(number)"
                processes[callID] = try post.pushThroughHub(callID)
            }
            try await eventually("all have joined", timeout: TestTimeout.long) {
                try await group.sessions().count { $0.role == .executor } == processes.count
            }
            guard round < 3 else { break }
            let hub = try #require(try post.hubProcess())
            #expect(try ProcessHandle(hub).signal(.kill))
            try await eventually("there is another hub", timeout: TestTimeout.long) {
                try post.hubProcess().map { $0 != hub } ?? false
            }
        }
        for callID in processes.keys { try post.deliver(callID) }
        for (callID, process) in processes {
            let end = await process.end()
            #expect(end == .exited(0), "\(callID): \(process.lines)")
            #expect(post.report(of: process)?.text == post.text(of: callID), "\(callID): \(process.lines)")
        }
        let report = TimelineChecker.check(try await Timeline(group).history())
        #expect(report.violations.isEmpty, "\(report.violations)")
        #expect(report.overlaps == 0)
        #expect(try post.misunderstandings() == [])
        #expect(try await post.hub("--stop") == .exited(0))
    }
}
