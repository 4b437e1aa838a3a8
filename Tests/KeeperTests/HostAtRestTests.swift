internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import KeptSockets
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Coordination
@testable internal import SharedCoreHost

extension KeeperTests {
    /// A Main that rests with the host. The host, the keeper or Main fails, and a push comes (contract C26).
    @Suite("C26: the host, the keeper or Main fails at rest", .serialized, .enabled(if: TestScope.isCheck))
    struct HostAtRestTests {
        private let group: SupervisedGroup
        private var stage: KeeperStage { group.stage }
        private let registrar: Registrar

        init() throws {
            group = try SupervisedGroup(isMember: true, hasRegistrar: true)
            registrar = try Registrar(at: group.registrarPath)
        }

        /// Starts a host, and waits until its Main rests and sleeps.
        ///
        /// - Returns: The process of Main.
        private func restingMain(_ variables: [String: String] = [:]) async throws -> Int32 {
            try await start(variables)
            try await group.server.send("rest")
            return try await sleepingMain()
        }

        private func start(_ variables: [String: String]) async throws {
            try group.serve(["SHAREDCORE_WAKE_BOUND": "30s"].merging(variables) { $1 })
            try await stage.untilNoted("owns")
        }

        private func sleepingMain() async throws -> Int32 {
            try await stage.untilNoted("sleeps")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            return try await stage.startedMain()
        }

        /// Starts a host, and stops the host and its Main around Main's offer of the ownership.
        ///
        /// Main is stopped after its commit. The host is stopped before it, so that no holder has taken the ownership.
        private func offeringMain() async throws -> Int32 {
            try await start(["SHAREDCORE_FAIL_POINT": "rest.offered:stop"])
            let main = try await stage.startedMain()
            try await eventually("the host is a holder") { try await isThere(OwnershipKey.holder) }
            await (try #require(group.host)).freeze()
            try await group.server.send("rest")
            try await untilStopped(main)
            #expect(try await isThere(OwnershipKey.rest))
            #expect(try await owner()?.process == ProcessIdentity(of: main))
            return main
        }

        /// Starts a host with a Main that rests, lets a call come, and waits until Main is stopped after the commit by
        /// which it resumes.
        private func resumingMain() async throws -> (main: Int32, pushing: ChildProcess) {
            let main = try await restingMain(["SHAREDCORE_FAIL_POINT": "rest.resumed:stop"])
            let pushing = try startPush()
            try await untilStopped(main)
            #expect(try await owner()?.process == ProcessIdentity(of: main))
            return (main, pushing)
        }

        private func untilStopped(_ process: Int32) async throws {
            try await eventually("process \(process) is stopped") {
                ProcessIdentity(of: process)?.isStopped == true
            }
        }

        private func isThere(_ key: Key) async throws -> Bool {
            let observer = try await observer()
            let isThere = try await observer.get(key) != nil
            await observer.close()
            return isThere
        }

        /// Sends a call, and its push.
        private func push() async throws {
            #expect(await (try startPush()).end() == .exited(0))
        }

        private func startPush() throws -> ChildProcess {
            registrar.receive("call-1")
            return try group.run(["push", "call-1"])
        }

        /// Starts the next host when the former one has ended.
        private func serveAnew(after host: ChildProcess) async throws {
            #expect(await host.end() == .killed(by: SIGKILL))
            try group.serve(["SHAREDCORE_WAKE_BOUND": "30s"])
        }

        private func observer() async throws -> FileGroup {
            try await FileGroup.open(
                directory: group.groupDirectory, as: SessionDescription(role: .tool, name: "observer"))
        }

        /// Waits until the push is served, and checks the outcome.
        ///
        /// The call was taken once, no two contacts or cores were there at once, and the timeline has no breach.
        ///
        /// - Parameters:
        ///   - registered: The contacts that have registered, in their order; nil where that is not determined.
        ///   - superseded: The number of superseded cores that were seen to run.
        ///   - told: The reason that the timeline has to give for the end of the rest; nil for no end.
        private func expectServed(
            by registered: [String]? = ["main"], superseded: Int = 0, told: String? = nil
        ) async throws {
            let observer = try await observer()
            let inbox = try Inbox(observer)
            let id = try #require(CallID("call-1"))
            try await eventually("the message is shown; errors: \(group.errors)", timeout: TestTimeout.usual) {
                try await inbox.state(of: id) == .acknowledged
            }
            let queue = try PushQueue(of: observer)
            try await eventually("no push is left") { try await queue.count() == PushQueue.Count() }
            let history = try await Timeline(observer).history()
            let report = TimelineChecker.check(history)
            try await eventually("the call is taken, once: \(registrar.taken)") { registrar.taken == ["call-1"] }
            #expect(registrar.overlaps == [])
            if let registered { #expect(registrar.registered == registered) }
            #expect(report.isClean, "\(report.violations), \(report.overlaps) overlaps")
            #expect(report.supersededOverlaps == superseded)
            let reasons = history.records.map(\.entry.reason)
            if let told { #expect(reasons.contains { $0.contains(told) }, "\(reasons)") }
            await observer.close()
        }

        private func owner() async throws -> GroupOwner? {
            let observer = try await observer()
            let owner = try await GroupOwner.current(in: observer)
            await observer.close()
            return owner
        }

        @Test("C26: the host is killed while it owns for Main: Main owns anew, and the push waits for the next host")
        func hostKilled() async throws {
            let main = try await restingMain()
            let host = try #require(group.host)
            host.signal(.kill)
            try await stage.untilNoted("core starts", count: 2)
            #expect(stage.notes.filter { $0.hasPrefix("core st") } == ["core starts", "core stops", "core starts"])
            try await serveAnew(after: host)
            try await push()
            try await expectServed(by: ["main", "main"], told: "its holder ended while it rested")
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }

        @Test("C26: the host is killed behind its wake: Main goes on, and the next host has the push")
        func hostKilledBehindItsWake() async throws {
            let main = try await restingMain(["SHAREDCORE_FAIL_POINT": "rest.woken:kill"])
            let host = try #require(group.host)
            try await push()
            try await serveAnew(after: host)
            // The quiet core continues, or has stopped before the next one started.
            try await expectServed(by: nil, told: "a push came")
            #expect([["main"], ["main", "main"]].contains(registrar.registered), "\(registrar.registered)")
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }

        @Test("C26: the host is stopped while it owns for Main: the push waits, and no other core starts meanwhile")
        func hostStopped() async throws {
            let main = try await restingMain()
            let host = try #require(group.host)
            await host.freeze()
            let pushing = try startPush()
            try await eventually("the push waits") {
                let observer = try await observer()
                let isThere = try await PushQueue(of: observer).count() != PushQueue.Count()
                await observer.close()
                return isThere
            }
            #expect(try await owner()?.process == host.identity)
            #expect(!stage.notes.contains("delivered call-1"))
            host.signal(.continue)
            #expect(await pushing.end() == .exited(0))
            try await expectServed(told: "a push came")
            #expect(stage.mainPid == main)
        }

        @Test("C26: Main is killed at rest: the host releases for it, and its keeper's next Main or an Executor serves")
        func mainKilled() async throws {
            let main = try await restingMain()
            kill(main, SIGKILL)
            try await push()
            try await expectServed(by: nil, told: "Main ended while it rested")
            try await stage.untilNoted("owns", count: 2)
            #expect(stage.mainPid != main)
        }

        @Test("C26: Main is stopped at rest for longer than its bound: an Executor serves, and Main's core stops later")
        func mainStopped() async throws {
            let main = try await restingMain([
                "SHAREDCORE_WAKE_BOUND": "1s", "SHAREDCORE_MAIN_WAKE_BUDGET": "10m",
            ])
            kill(main, SIGSTOP)
            try await push()
            try await expectServed(
                by: ["main", "executor"], superseded: 1, told: "Main did not resume within 1.0 seconds")
            #expect(!stage.notes.contains("delivered call-1") && !stage.notes.contains("core stops"))
            kill(main, SIGCONT)
            try await stage.untilNoted("core stops")
        }

        @Test("C26: the keeper is stopped at rest: a push wakes Main all the same, by the group")
        func keeperStopped() async throws {
            let main = try await restingMain()
            let keeper = try await stage.status().keeper
            kill(keeper, SIGSTOP)
            try await push()
            try await expectServed(told: "a push came")
            kill(keeper, SIGCONT)
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }

        @Test("C26: the keeper is killed behind a wake: Main resumes, and serves the push")
        func keeperKilled() async throws {
            let main = try await restingMain()
            let keeper = try await stage.status().keeper
            // Main sees the wake when the keeper is gone.
            kill(main, SIGSTOP)
            let pushing = try startPush()
            try await eventually("a wake is written") { try await isThere(OwnershipKey.wake) }
            kill(keeper, SIGKILL)
            kill(main, SIGCONT)
            #expect(await pushing.end() == .exited(0))
            try await expectServed(told: "a push came")
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }

        @Test("C26: the host is killed before it has taken an offer: Main rests with the next one, with its core")
        func hostKilledAtAnOffer() async throws {
            let main = try await offeringMain()
            let host = try #require(group.host)
            host.signal(.kill)
            try await serveAnew(after: host)
            kill(main, SIGCONT)
            #expect(try await sleepingMain() == main)
            #expect(try await owner()?.process == group.host?.identity)
            try await push()
            try await expectServed(told: "a push came")
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }

        @Test("C26: the keeper is killed at an offer, which the host takes: Main serves the push by its core")
        func keeperKilledAtAnOffer() async throws {
            let main = try await offeringMain()
            let keeper = try await stage.status().keeper
            kill(keeper, SIGKILL)
            let host = try #require(group.host)
            host.signal(.continue)
            try await eventually("the host owns for Main") { try await owner()?.process == host.identity }
            kill(main, SIGCONT)
            try await stage.until("the next keeper") { $0.keeper != keeper && $0.main == main }
            try await push()
            try await expectServed()
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }

        @Test("C26: the host is killed while Main resumes: Main's core goes on, and the next host has the push")
        func hostKilledWhileMainResumes() async throws {
            let (main, pushing) = try await resumingMain()
            let host = try #require(group.host)
            host.signal(.kill)
            try await serveAnew(after: host)
            kill(main, SIGCONT)
            #expect(await pushing.end() == .exited(0))
            try await expectServed(told: "a push came")
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }

        @Test("C26: the keeper is killed while Main resumes: Main's core goes on, and serves the push")
        func keeperKilledWhileMainResumes() async throws {
            let (main, pushing) = try await resumingMain()
            let keeper = try await stage.status().keeper
            kill(keeper, SIGKILL)
            kill(main, SIGCONT)
            #expect(await pushing.end() == .exited(0))
            try await expectServed(told: "a push came")
            try await stage.until("the next keeper") { $0.keeper != keeper && $0.main == main }
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }
    }
}
