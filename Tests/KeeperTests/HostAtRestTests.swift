internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import KeptSockets
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Coordination
@testable internal import sharedcore

extension KeeperTests {
    /// A Main that rests with the host. The host, the keeper or Main fails, and a push comes (contract C26).
    @Suite("C26: the host, the keeper or Main fails at rest", .serialized, .enabled(if: TestScope.isCheck))
    struct HostAtRestTests {
        private let group: SupervisedGroup
        private var stage: KeeperStage { group.stage }
        private var maildir: String { group.groupDirectory + "/Maildir" }

        init() throws {
            group = try SupervisedGroup(isMember: true)
            for path in [
                group.directory + "/g", group.groupDirectory, maildir, maildir + "/new", maildir + "/cur",
                maildir + "/tmp",
            ] {
                _ = try Directory.create(path: path, permissions: 0o700)
            }
        }

        /// Starts a host whose Main rests and sleeps.
        ///
        /// - Returns: The process of Main.
        private func restingMain(_ variables: [String: String] = [:]) async throws -> Int32 {
            try group.serve(["SHAREDCORE_WAKE_BOUND": "30s"].merging(variables) { $1 })
            try await stage.untilNoted("owns")
            try await group.server.send("rest")
            try await stage.untilNoted("sleeps")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            return try await stage.startedMain()
        }

        /// Lets a message come, and its push.
        private func push() async throws {
            #expect(await (try startPush()).end() == .exited(0))
        }

        private func startPush() throws -> ChildProcess {
            let file = try OpenFile(path: maildir + "/tmp/1", .createNew)
            try file.write(Array("From: ann@example.org\nTo: bob@example.org\nCall-ID: call-1\n\nhello\n".utf8), at: 0)
            rename(maildir + "/tmp/1", maildir + "/new/1")
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

        /// Waits until the push is served, and expects that no two cores ran at once and the timeline has no breach.
        ///
        /// - Parameters:
        ///   - superseded: How many cores were seen that had been given up.
        ///   - told: What the timeline has to say about the rest; nil for no end of it.
        private func expectServed(superseded: Int = 0, told: String? = nil) async throws {
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
            try await expectServed(told: "its holder ended while it rested")
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
        }

        @Test("C26: the host is killed behind its wake: Main goes on, and the next host has the push")
        func hostKilledBehindItsWake() async throws {
            let main = try await restingMain(["SHAREDCORE_FAIL_POINT": "rest.woken:kill"])
            let host = try #require(group.host)
            try await push()
            try await serveAnew(after: host)
            try await expectServed(told: "a push came")
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
            // Its quiet core goes on, or has stopped before the next one started.
            #expect(stage.notes.count { $0 == "core starts" } <= 2)
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
            #expect(stage.mainPid == main && stage.notes.count { $0 == "core starts" } == 1)
        }

        @Test("C26: Main is killed at rest: the host releases for it, and its keeper's next Main or an Executor serves")
        func mainKilled() async throws {
            let main = try await restingMain()
            kill(main, SIGKILL)
            try await push()
            try await expectServed(told: "Main ended while it rested")
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
            try await expectServed(superseded: 1, told: "Main did not resume within 1.0 seconds")
            #expect(!stage.notes.contains("delivered call-1") && !stage.notes.contains("core stops"))
            kill(main, SIGCONT)
            try await stage.untilNoted("core stops")
        }

        @Test("C26: the keeper is stopped at rest: a push wakes Main all the same, by the group")
        func keeperStopped() async throws {
            let main = try await restingMain()
            let keeper = try #require(try await stage.status()?.keeper)
            kill(keeper, SIGSTOP)
            try await push()
            try await expectServed(told: "a push came")
            kill(keeper, SIGCONT)
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
            #expect(stage.notes.count { $0 == "core starts" } == 1)
        }

        @Test("C26: the keeper is killed behind a wake: Main resumes, and serves the push")
        func keeperKilled() async throws {
            let main = try await restingMain()
            let keeper = try #require(try await stage.status()?.keeper)
            // Main sees its wake when the keeper is gone.
            kill(main, SIGSTOP)
            let pushing = try startPush()
            try await eventually("a wake is written") {
                let observer = try await observer()
                let isWritten = try await observer.get(OwnershipKey.wake) != nil
                await observer.close()
                return isWritten
            }
            kill(keeper, SIGKILL)
            kill(main, SIGCONT)
            #expect(await pushing.end() == .exited(0))
            try await expectServed(told: "a push came")
            #expect(stage.mainPid == main && stage.notes.contains("delivered call-1"))
            #expect(stage.notes.count { $0 == "core starts" } == 1)
        }
    }
}
