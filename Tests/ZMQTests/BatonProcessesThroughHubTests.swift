internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A call that moves between processes that share only a hub, one of which fails after a step (contract C25).
    @Suite("C25: processes that share a hub alone")
    struct BatonProcessesThroughHubTests {
        enum Fault: CaseIterable {
            case killed
            /// For longer than its lease.
            case stopped
            /// The line of the process to the hub is cut for longer than its lease.
            case cutOff
        }

        /// A place after a step, and the fault of the process that passes it.
        struct Case: Sendable, CustomTestStringConvertible {
            let place: String
            let isOfMain: Bool
            let fault: Fault
            /// The process that then has the call; nil if the call is lost.
            let holder: String?
            /// True if a Main has applied the baton, so that the call no longer moves.
            var isApplied: Bool { place == "baton.applied" }

            var testDescription: String { "\(isOfMain ? "Main" : "the old owner") is \(fault) at \(place)" }
        }

        private static let secret = "do-not-store-this-key"

        private static let cases = [
            ("handover.asked", true, "A"), ("baton.given", false, nil), ("baton.kept", false, nil),
            ("baton.offered", false, "B"),
            ("baton.taken", true, "A"), ("baton.prepared", true, "A"), ("baton.applied", true, nil),
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

        /// The senders in order, without repetitions.
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
                // An ended call has no holder.
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
            if failure.fault != .killed {
                let name = failure.isOfMain ? "B" : "A"
                try await eventually("its lease is over") {
                    try await !group.sessions().contains { $0.name == name }
                }
            }
            // The victim continues, and learns of it.
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
                // A Main ends by itself if its session ends while it starts.
                try? victim.send("close")
                _ = try await withTimeout(TestTimeout.usual, "it ends: \(victim.lines)") { await victim.end() }
            }
            texts += line.received()
            let senders = order(of: texts)
            // A core that has given the call sends nothing, and the core that has the call ends it once.
            #expect(texts.filter { $0 == "BYE" }.count <= 1, "\(senders)")
            if let holder = failure.holder {
                #expect(senders == (holder == "A" ? ["A", "BYE"] : ["A", "B", "BYE"]), "\(senders)")
            } else if failure.isApplied {
                // The call belonged to Main, which may run for a moment before it learns of the end of its session.
                #expect(other.lines.contains("hears applied"), "\(other.lines)")
                let orders = [["A"], ["A", "B"], ["A", "B", "BYE"], ["A", "BYE"]]
                #expect(orders.contains(senders) && (failure.fault != .killed || senders == ["A"]), "\(senders)")
            } else {
                #expect(senders == ["A"] || senders == ["A", "BYE"], "\(senders)")
            }
            let history = try await Timeline(group).history()
            let report = TimelineChecker.check(history)
            #expect(report.violations.isEmpty, "\(report.violations)")
            let applied = history.records.filter { $0.entry.kind == .batonApplied }.count
            #expect(applied == (failure.holder == nil && !failure.isApplied ? 0 : 1))
            await group.close()
            await hub.stop()
            let printed = "\(victim.lines) \(other.lines) \(history.records) \(report.describe())"
            #expect(!printed.contains(Self.secret))
            #expect(try FilesWithText.find(Self.secret, below: stage.directory.path) == [])
        }
        @Test(
            "C25: the answer to the offer is lost, and then the session: the old core takes it for neither refused nor failed",
            .enabled(if: TestScope.isCheck))
        func lostAnswer() async throws {
            var stage = try HubStage()
            stage.lease = .seconds(3)
            for name in ["witness", "run-A", "run-B"] {
                _ = try Directory.create(path: stage.directory.path(of: name), permissions: 0o700)
            }
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let line = try DatagramLine()
            let executor = try start("executor", "A", through: endpoint, of: stage, to: line, at: "baton.kept:stop")
            try await eventually("it has the call: \(executor.lines)") { executor.lines.contains("runs") }
            let session = try await currentOwner(of: stage)
            let main = try start("main", "B", through: hub.endpoints[0], of: stage, to: line)
            try await eventually("it is stopped before its offer: \(executor.lines)") { executor.isStopped }

            // The hub receives the offer, but the old owner gets no answer.
            requests.cutAnswers()
            stream.cut()
            executor.signal(.continue)
            try await eventually("Main goes on: \(main.lines)", timeout: TestTimeout.usual) {
                main.lines.contains("goes on")
            }
            requests.cut()
            let group = try await stage.client()
            try await eventually("the session of the old owner is over") {
                try await !group.sessions().contains { $0.id == session }
            }
            #expect(!executor.lines.contains { $0.hasPrefix("hears ") }, "\(executor.lines)")
            requests.heal()
            stream.heal()
            try await eventually("the old owner has ended: \(executor.lines)") {
                executor.lines.contains { $0.hasPrefix("hears ") }
            }
            // If the stream is restored first, the old owner sees the outcome of the offer before its session's end.
            #expect([["hears unknown"], ["hears applied"]].contains(executor.lines.filter { $0.hasPrefix("hears ") }))
            var texts = line.received()
            try await eventually("Main sends") {
                texts += line.received()
                return texts.last == "B"
            }
            #expect(try await Calls(group).list().map { $0.holder?.name } == ["B"])
            // A participant ends by itself when its session has ended.
            try? executor.send("close")
            _ = try await withTimeout(TestTimeout.usual, "it ends: \(executor.lines)") { await executor.end() }
            try main.send("close")
            #expect(await main.end() == .exited(0), "\(main.lines)")
            texts += line.received()
            #expect(order(of: texts) == ["A", "B", "BYE"])
            let report = TimelineChecker.check(try await Timeline(group).history())
            #expect(report.violations.isEmpty, "\(report.violations)")
            await group.close()
            await hub.stop()
        }

        private func currentOwner(of stage: HubStage) async throws -> SessionID {
            let group = try await stage.client()
            let owner = try #require(try await GroupOwner.current(in: group))
            await group.close()
            return owner.session
        }
    }
}
