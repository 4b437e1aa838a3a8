internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Coordination

extension KeeperTests {
    /// A Main that rests with `sharedcore-holder`. One of the two fails at a step of the rest, and a call waits
    /// (contract C26).
    @Suite("C26: a process fails at a step of a rest", .serialized)
    struct KillsAtRestTests {
        enum Step: CaseIterable {
            /// Main has offered its ownership, and no holder has taken it.
            case offered
            /// The holder owns for Main.
            case taken
            /// A wake is written, and Main has not resumed.
            case woken
            /// Main owns for itself, and its core has not been told yet.
            case resuming
        }

        enum Fault: CaseIterable { case killed, stopped }

        /// The core that serves the call.
        enum Server {
            /// The core of Main that was quiet.
            case quietCore
            /// A core of Main, under a new epoch.
            case nextCore
            /// One of these two: both guard their commit by the owner's revision.
            case coreOfMain
            case executor
        }

        struct Case: Sendable, CustomTestStringConvertible {
            let step: Step
            let isOfMain: Bool
            let fault: Fault
            let server: Server
            /// The sentence of the timeline that says why the call is served so; nil where nothing is to be said.
            let told: String?
            /// `wake.bound`, at most 30 s, and the bound of an owner's answer. They are short only where they have to pass.
            var wakeBound = 30_000
            var answerBound = 60_000

            var testDescription: String { "\(isOfMain ? "Main" : "the holder") is \(fault) when \(step)" }
        }

        private static let cases = [
            Case(step: .offered, isOfMain: true, fault: .killed, server: .executor, told: "its end"),
            Case(
                step: .offered, isOfMain: true, fault: .stopped, server: .executor,
                told: "Main did not resume within 1.0 seconds", wakeBound: 1_000),
            Case(step: .offered, isOfMain: false, fault: .killed, server: .quietCore, told: nil),
            Case(step: .offered, isOfMain: false, fault: .stopped, server: .quietCore, told: nil),
            Case(
                step: .taken, isOfMain: true, fault: .killed, server: .executor,
                told: "Main ended while it rested"),
            Case(
                step: .taken, isOfMain: true, fault: .stopped, server: .executor,
                told: "Main did not resume within 1.0 seconds", wakeBound: 1_000),
            Case(
                step: .taken, isOfMain: false, fault: .killed, server: .nextCore,
                told: "its holder ended while it rested"),
            Case(
                step: .taken, isOfMain: false, fault: .stopped, server: .quietCore,
                told: "a call waits for its message", answerBound: 1_000),
            Case(
                step: .woken, isOfMain: true, fault: .killed, server: .executor,
                told: "Main ended while it rested"),
            Case(
                step: .woken, isOfMain: true, fault: .stopped, server: .quietCore,
                told: "a call waits for its message"),
            Case(
                step: .woken, isOfMain: false, fault: .killed, server: .coreOfMain,
                told: "a call waits for its message"),
            Case(
                step: .woken, isOfMain: false, fault: .stopped, server: .quietCore,
                told: "a call waits for its message"),
            Case(step: .resuming, isOfMain: true, fault: .killed, server: .executor, told: "its end"),
            Case(
                step: .resuming, isOfMain: true, fault: .stopped, server: .executor,
                told: "did not answer", answerBound: 1_000),
            Case(
                step: .resuming, isOfMain: false, fault: .killed, server: .quietCore,
                told: "a call waits for its message"),
            Case(
                step: .resuming, isOfMain: false, fault: .stopped, server: .quietCore,
                told: "a call waits for its message"),
        ]

        private let directory: TemporaryDirectory
        private let registrar: Registrar
        private var group: String { directory.path(of: "group") }

        init() throws {
            directory = try TemporaryDirectory()
            registrar = try Registrar(at: directory.path(of: "registrar"))
        }

        private func holder(_ failure: Case, at place: String?) async throws -> ChildProcess {
            let holder = try ChildProcess(
                try ChildProcess.built("sharedcore-holder"),
                ["--directory", group, "--wake-bound-ms", "\(failure.wakeBound)"],
                environment: ["SHAREDCORE_FAIL_POINT": place], errors: directory.path(of: "errors"))
            try await eventually("it serves") { holder.lines.first?.contains("serving") == true }
            return holder
        }

        private func start(_ role: String, _ failure: Case, at place: String? = nil) async throws -> ChildProcess {
            let child = try ChildProcess(
                try ChildProcess.built("sharedcore-test-peer"),
                [
                    "rest", group, role, role, registrar.path, "\(failure.wakeBound)", "\(failure.answerBound)",
                ], environment: ["SHAREDCORE_FAIL_POINT": place], input: true)
            try await until("runs", of: child)
            return child
        }

        private func until(_ line: String, of child: ChildProcess) async throws {
            try await eventually("“\(line)” among \(child.lines)", timeout: TestTimeout.usual) {
                child.lines.contains(line)
            }
        }

        private func expectEnd(of child: ChildProcess) async throws {
            try child.send("close")
            let end = try await withTimeout(TestTimeout.usual, "it ends: \(child.lines)") { await child.end() }
            #expect(end == .exited(0), "\(child.lines)")
        }

        @Test(
            "C26: Main or its holder is killed or stopped at a step: the call is served in its time, by one contact",
            .enabled(if: TestScope.isCheck), arguments: cases)
        func fails(at failure: Case) async throws {
            func place(_ name: String, _ action: String? = nil) -> String {
                "\(name):\(action ?? (failure.fault == .killed ? "kill" : "stop"))"
            }
            let placeOfHolder: String? =
                switch failure.step {
                case .taken where !failure.isOfMain: place("rest.taken")
                case .woken where !failure.isOfMain: place("rest.woken")
                default: nil
                }
            let placeOfMain: String? =
                switch failure.step {
                case .offered where failure.isOfMain: place("rest.offered")
                case .resuming: place("rest.resumed", failure.isOfMain ? nil : "stop")
                default: nil
                }
            let holder = try await holder(failure, at: placeOfHolder)
            let main = try await start("main", failure, at: placeOfMain)
            let observer = try await FileGroup.open(
                directory: group, as: SessionDescription(role: .tool, name: "observer"))
            let epoch = try #require(try await GroupOwner.current(in: observer)?.epoch)
            let (victim, other) = failure.isOfMain ? (main, holder) : (holder, main)
            func fail() async throws {
                victim.signal(failure.fault == .killed ? .kill : .stop)
                if failure.fault == .killed { _ = await victim.end() } else { await victim.freeze() }
            }
            if failure.step == .offered, !failure.isOfMain {
                try await eventually("there is a holder") { try await observer.get(OwnershipKey.holder) != nil }
                try await fail()
            }
            try main.send("rest")

            // The failure.
            switch (failure.step, failure.isOfMain) {
            case (.offered, true) where failure.fault == .killed, (.taken, false) where failure.fault == .killed:
                #expect(await victim.end() == .killed(by: SIGKILL))
            case (.offered, true):
                try await eventually("it is stopped") { victim.isStopped }
                try await eventually("the holder owns") {
                    try await GroupOwner.current(in: observer)?.process == holder.identity
                }
            case (.offered, false):
                // A holder that has ended is no holder any more: no rest is offered then.
                if failure.fault == .stopped { try await until("does not rest: refused", of: main) }
            case (.taken, false):
                try await eventually("it is stopped") { victim.isStopped }
                try await until("rests", of: main)
            default: try await until("rests", of: main)
            }
            if [.taken, .woken].contains(failure.step), failure.isOfMain {
                // A stopped Main sees no wake.
                if failure.step == .taken { try await fail() } else { await main.freeze() }
            }

            // A call comes.
            let executor = try await start("executor", failure)
            registrar.receive("call-1")
            try executor.send("wait call-1")
            switch failure.step {
            case .woken where failure.isOfMain:
                try await eventually("a wake is written") { try await observer.get(OwnershipKey.wake) != nil }
                if failure.fault == .killed { try await fail() } else { main.signal(.continue) }
            case .resuming where !failure.isOfMain:
                try await eventually("Main has resumed") { main.isStopped }
                try await fail()
                main.signal(.continue)
            default: break
            }
            let isOfExecutor = failure.server == .executor
            try await until(isOfExecutor ? "answer core" : "answer inbox", of: executor)
            // The answer may come before the registrar receives the line.
            try await eventually("the call is taken, once: \(registrar.taken)") { registrar.taken == ["call-1"] }

            // The victim continues, and one contact is left. After its core was superseded, a Main asks the Executor
            // for the ownership, and starts another core.
            let isStopped = failure.fault == .stopped && !(failure.step == .woken && failure.isOfMain)
            if isStopped { victim.signal(.continue) }
            let isHandedOver = isStopped && isOfExecutor
            if isHandedOver {
                try await until("stops superseded", of: main)
                try await until("stops handover", of: executor)
            }
            let isExecutorLeft = isOfExecutor && !isHandedOver
            try await eventually("one contact is left: \(registrar.contacts)") {
                registrar.contacts == [isExecutorLeft ? "executor" : "main"]
            }
            #expect(registrar.overlaps == [])
            let owner = try #require(try await GroupOwner.current(in: observer))
            #expect(owner.role == (isExecutorLeft ? .executor : .main))
            let registrations = registrar.registered
            switch failure.server {
            case .quietCore:
                #expect(owner.epoch == epoch && registrations == ["main"], "\(registrations)")
            case .nextCore: #expect(owner.epoch > epoch && registrations == ["main", "main"], "\(registrations)")
            case .coreOfMain: #expect(registrations.count <= 2 && !registrations.contains("executor"))
            case .executor:
                #expect(registrations == ["main", "executor"] + (isHandedOver ? ["main"] : []), "\(registrations)")
            }
            try await expectTold(failure, in: observer, hasStoppedCore: isHandedOver)

            try await expectEnd(of: executor)
            if !failure.isOfMain || failure.fault == .stopped { try await expectEnd(of: main) }
            if failure.isOfMain || failure.fault == .stopped {
                holder.signal(.terminate)
                #expect(await holder.end() == .exited(0))
            }
            #expect(other.hasEnded)
            await observer.close()
            registrar.close()
        }

        /// Expects that the timeline has no breach, and gives the reason why the call was served as it was.
        private func expectTold(_ failure: Case, in observer: FileGroup, hasStoppedCore: Bool) async throws {
            let history = try await Timeline(observer).history()
            let report = TimelineChecker.check(history)
            #expect(report.isClean, "\(report.violations), \(report.overlaps) overlaps")
            #expect(report.supersededOverlaps == (hasStoppedCore ? 1 : 0))
            let entries = history.records.map(\.entry)
            let text = entries.map { "\($0)" }
            switch failure.told {
            case "its end":
                // Its session ended with its process, or the holder had the ownership by then and has released it.
                #expect(
                    entries.contains {
                        $0.previous?.end == .sessionEnded || $0.reason == "Main ended while it rested"
                    }, "\(text)")
            case "did not answer":
                #expect(entries.contains { $0.kind == .tookOver && $0.previous?.end == .unanswered }, "\(text)")
            case let reason?: #expect(entries.contains { $0.reason.contains(reason) }, "\(text)")
            case nil:
                #expect(!entries.contains { [.rested, .woken, .coreGivenUp, .fenced].contains($0.kind) }, "\(text)")
            }
            // A Main that does not resume has the time of the bound, and on a busy machine not much more.
            guard let givenUp = entries.first(where: { $0.kind == .coreGivenUp }) else {
                return #expect(failure.wakeBound > 1_000 || !failure.isOfMain)
            }
            let woken = try #require(entries.last { $0.kind == .woken && $0.at <= givenUp.at })
            #expect(failure.wakeBound == 1_000)
            #expect(woken.at.duration(to: givenUp.at) >= .seconds(1))
        }
    }
}
