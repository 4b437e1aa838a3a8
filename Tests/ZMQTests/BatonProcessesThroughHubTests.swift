internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A call that moves between processes that share a hub alone, one of which fails behind a step (contract C25).
    @Suite("C25: processes that share a hub alone")
    struct BatonProcessesThroughHubTests {
        enum Fault: CaseIterable {
            case killed
            /// For longer than its lease.
            case stopped
            /// Its line to the hub is cut for longer than its lease.
            case cutOff
        }

        /// A place behind a step, and what befalls the process that passes it.
        struct Case: Sendable, CustomTestStringConvertible {
            let place: String
            let isOfMain: Bool
            let fault: Fault
            /// The process that has the call then; nil where it is lost.
            let holder: String?

            var testDescription: String { "\(isOfMain ? "Main" : "the old owner") is \(fault) at \(place)" }
        }

        private static let cases = [
            ("baton.given", false, nil), ("baton.kept", false, nil), ("baton.offered", false, "B"),
            ("baton.taken", true, "A"), ("baton.prepared", true, "A"),
        ].flatMap { place, isOfMain, holder in
            Fault.allCases.map { Case(place: place, isOfMain: isOfMain, fault: $0, holder: holder) }
        }

        private func start(
            _ role: String, _ name: String, through endpoint: HubEndpoint, of stage: HubStage, to line: DatagramLine,
            at place: String? = nil
        ) throws -> ChildProcess {
            try ChildProcess(
                try ChildProcess.built("sharedcore-test-peer"),
                [
                    "call", stage.directory.path(of: "witness"), role, name, "\(line.port)", "60000", "500",
                    "\(endpoint)", stage.keys.client.secretKey, stage.keys.hub.publicKey,
                ],
                environment: [
                    "XDG_RUNTIME_DIR": stage.directory.path(of: "run-\(name)"), "SHAREDCORE_FAIL_POINT": place,
                ], input: true)
        }

        /// The senders in their order, each once where no other came between.
        private func order(of texts: [String]) -> [String] {
            texts.reduce(into: []) { order, text in if order.last != text { order.append(text) } }
        }

        @Test(
            "C25: a process that shares a hub alone fails behind a step: one has the call or it is lost, once",
            .enabled(if: TestScope.isCheck), arguments: cases)
        func fails(at failure: Case) async throws {
            var stage = try HubStage()
            stage.lease = .seconds(3)
            for name in ["witness", "run-A", "run-B"] {
                _ = try Directory.create(path: stage.directory.path(of: name), permissions: 0o700)
            }
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let line = try DatagramLine()
            func place(ofMain: Bool) -> String? {
                failure.isOfMain == ofMain ? "\(failure.place):\(failure.fault == .killed ? "kill" : "stop")" : nil
            }
            let executor = try start(
                "executor", "A", through: failure.isOfMain ? hub.endpoints[0] : endpoint, of: stage, to: line,
                at: place(ofMain: false))
            try await eventually("it has the call: \(executor.lines)") { executor.lines.contains("runs") }
            let main = try start(
                "main", "B", through: failure.isOfMain ? endpoint : hub.endpoints[0], of: stage, to: line,
                at: place(ofMain: true))
            let (victim, other) = failure.isOfMain ? (main, executor) : (executor, main)
            if failure.fault == .killed {
                #expect(await victim.end() == .killed(by: SIGKILL))
            } else {
                try await eventually("it is stopped: \(victim.lines)") { victim.isStopped }
            }
            if failure.fault == .cutOff {
                requests.cut()
                stream.cut()
                victim.signal(.continue)
            }

            let group = try await stage.client()
            let calls = Calls(group)
            try await eventually("it is known what became of the call: \(other.lines)", timeout: TestTimeout.usual) {
                let call = try await calls.list().first
                let state: Call.State = failure.holder == nil ? .ended(.lost) : .answered
                // A call that is over has no holder.
                guard call?.state == state, call?.holder?.name == failure.holder else { return false }
                return try await group.get(OwnershipKey.baton) == nil
            }
            var texts = line.received()
            if let holder = failure.holder {
                try await eventually("“\(holder)” sends: \(other.lines)") {
                    let present = line.received()
                    texts += present
                    return present.contains(holder)
                }
            }
            // The victim goes on, and hears of it.
            if failure.fault == .stopped { victim.signal(.continue) }
            requests.heal()
            stream.heal()
            if failure.fault != .killed, !failure.isOfMain {
                try await eventually("the old owner hears of it: \(victim.lines)") {
                    victim.lines.contains { $0.hasPrefix("hears ") }
                }
            }
            #expect(try await calls.list().count == 1)
            try other.send("close")
            #expect(await other.end() == .exited(0), "\(other.lines)")
            if failure.fault != .killed {
                // A Main whose session is over while it starts has ended by itself.
                try? victim.send("close")
                _ = try await withTimeout(TestTimeout.usual, "it ends: \(victim.lines)") { await victim.end() }
            }
            texts += line.received()
            let senders = order(of: texts)
            // A core that has given the call sends nothing; the one that has it ends it, once.
            #expect(texts.filter { $0 == "BYE" }.count <= 1, "\(senders)")
            if let holder = failure.holder {
                #expect(senders == (holder == "A" ? ["A", "BYE"] : ["A", "B", "BYE"]), "\(senders)")
            } else {
                #expect(senders == ["A"] || senders == ["A", "BYE"], "\(senders)")
            }
            let history = try await Timeline(group).history()
            let report = TimelineChecker.check(history)
            #expect(report.violations.isEmpty, "\(report.violations)")
            #expect(history.records.filter { $0.entry.kind == .batonApplied }.count == (failure.holder == nil ? 0 : 1))
            await group.close()
            await hub.stop()
        }
    }
}
