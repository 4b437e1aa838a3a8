internal import CoreAPITesting
internal import Glibc
internal import KeptSockets
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

extension KeeperTests {
    @Suite("serve: a supervised Main", .serialized)
    struct SupervisedMainTests {
        private let group: SupervisedGroup
        private var stage: KeeperStage { group.stage }

        init() throws {
            group = try SupervisedGroup()
        }

        @Test("The keeper and Main outlive a host that is killed and one that stops; the next one goes on with them")
        func hosts() async throws {
            let first = try group.serve()
            try await stage.untilNoted("connected")
            try await stage.until("its socket is kept") { $0.kept == ["line"] }
            let before = try await stage.status()

            first.signal(.kill)
            _ = await first.end()
            let second = try group.serve()
            try await eventually("the second host serves") { second.lines.contains { $0.contains("serves") } }
            second.signal(.terminate)
            #expect(await second.end() == .exited(0))

            #expect(try await stage.status() == before)
            #expect(group.server.closeCount == 0)
        }

        @Test("A keeper that is killed is followed by another, to which Main registers")
        func keeper() async throws {
            try group.serve()
            try await stage.untilNoted("connected")
            try await stage.until("its socket is kept") { $0.kept == ["line"] }
            let before = try await stage.status()
            kill(before.keeper, SIGKILL)
            try await stage.until("the next keeper") {
                $0.keeper != before.keeper && $0.main == before.main && $0.kept == ["line"]
            }
            #expect(group.server.closeCount == 0)
        }

        @Test("status and keeper show Main and its kept sockets; keeper stops it and starts it")
        func commands() async throws {
            try group.serve()
            try await stage.untilNoted("connected")
            try await stage.until("its socket is kept") { $0.kept == ["line"] }
            let main = try await stage.startedMain()
            for arguments in [["status"], ["keeper"]] {
                let command = try group.run(arguments)
                #expect(await command.end() == .exited(0))
                #expect(command.lines.contains { $0.hasPrefix("main ") && $0.contains("running, pid \(main)") })
                #expect(command.lines.contains { $0.hasPrefix("kept ") && $0.hasSuffix(" line") })
            }
            let json = try group.run(["status", "--json"])
            #expect(await json.end() == .exited(0))
            #expect(json.lines.contains { $0.contains("\"main\":{") && $0.contains("\"keptSockets\":[\"line\"]") })

            #expect(await (try group.run(["keeper", "--stop"])).end() == .exited(0))
            try await stage.until("it is down") { $0.state == "down" && $0.kept == [] }
            #expect(await (try group.run(["keeper", "--start", "--foreground"])).end() == .exited(0))
            try await stage.untilNoted("start background=false")
            #expect(await (try group.run(["keeper", "--start", "--stop"])).end() == .exited(64))
        }

        @Test("The host's figures tell of the keeper, of Main and its starts, and of its kept sockets")
        func figures() async throws {
            let host = try group.serve()
            try await stage.untilNoted("connected")
            try await until(
                "it runs and keeps its socket",
                [
                    "sharedcore_keeper_running 1", "sharedcore_main_running 1", "sharedcore_main_starts_total 1",
                    "sharedcore_kept_sockets 1", "sharedcore_main_failures_in_a_row 0",
                    "sharedcore_main_active_calls 0",
                ])
            kill(try await stage.startedMain(), SIGKILL)
            try await until(
                "it has failed and runs again",
                [
                    "sharedcore_main_running 1", "sharedcore_main_starts_total 2",
                    "sharedcore_main_failures_in_a_row 1",
                ])
            #expect(await (try group.run(["keeper", "--stop"])).end() == .exited(0))
            try await until("it is down", ["sharedcore_main_running 0", "sharedcore_kept_sockets 0"])
            host.signal(.terminate)
            #expect(await host.end() == .exited(0))
        }

        @Test("A keeper that stands still holds up neither what the host tells of itself nor its end")
        func frozenKeeper() async throws {
            let host = try group.serve([
                "SHAREDCORE_EXECUTOR_COMMAND": "sleep 1000", "SHAREDCORE_EXECUTOR_BUDGET": "1h",
            ])
            try await stage.until("Main runs") { $0.main != nil }
            try await until("the keeper answers", ["sharedcore_keeper_running 1", "sharedcore_executors_running 0"])
            let keeper = try await stage.status().keeper
            kill(keeper, SIGSTOP)
            defer { kill(keeper, SIGCONT) }
            try await until("the keeper was asked, and did not answer", ["sharedcore_keeper_running 0"])
            #expect(await (try group.run(["push", "1@x"])).end() == .exited(0))
            try await until("the Executor is told of", ["sharedcore_executors_running 1"], timeout: TestTimeout.long)
            host.signal(.terminate)
            #expect(await host.end() == .exited(0))
        }

        private func until(_ what: String, _ lines: [String], timeout: Duration = TestTimeout.long) async throws {
            try await eventually(what, timeout: timeout) {
                let figures = try await group.figures().split(separator: "\n").map(String.init)
                return lines.allSatisfy(figures.contains)
            }
        }

        @Test("P1: Main has the levels that its keeper was started with, and a reload says so; the next has the host's")
        func serviceLevels() async throws {
            try group.configure("serviceLevels:\n  presencePublish:\n    background: none\n")
            let first = try group.serve()
            try await stage.untilNoted("connected")
            #expect(presenceLevel(of: stage.mainPid) == "none")

            try group.configure("serviceLevels:\n  presencePublish:\n    background: normal\n")
            try await eventually("the host serves") { first.lines.contains { $0.contains("serves") } }
            first.signal(.hangUp)
            try await eventually("the reload says it", timeout: TestTimeout.long) {
                group.errors.contains {
                    $0.contains("“sharedcore keeper --end” for serviceLevels.presencePublish.background")
                }
            }
            first.signal(.terminate)
            #expect(await first.end() == .exited(0))

            let second = try group.serve()
            try await eventually("the second host serves") { second.lines.contains { $0.contains("serves") } }
            let main = try await stage.startedMain()
            kill(main, SIGKILL)
            try await eventually("another Main with the former level", timeout: TestTimeout.long) {
                stage.mainPid != main && presenceLevel(of: stage.mainPid) == "none"
            }
            #expect(await (try group.run(["keeper", "--end"])).end() == .exited(0))
            try await eventually("a Main with the new level", timeout: TestTimeout.long) {
                presenceLevel(of: stage.mainPid) == "normal"
            }
        }

        /// The level for presence in a Main's environment.
        private func presenceLevel(of main: Int32?) -> String? {
            let name = "SHAREDCORE_SERVICE_LEVELS_PRESENCE_PUBLISH_BACKGROUND="
            guard let main, let bytes = try? OpenFile(path: "/proc/\(main)/environ", .read).read(count: 1 << 20, at: 0)
            else { return nil }
            let variables = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return variables.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
        }

        @Test("Without a keeper, keeper says so with status 1")
        func none() async throws {
            #expect(await (try group.run(["keeper"])).end() == .exited(1))
        }
    }
}

extension KeeperTests {
    @Suite("The lines of status about a supervised Main")
    struct SupervisionWordsTests {
        private func line(_ change: (inout KeeperStatus) -> Void) -> String {
            var status = KeeperStatus(keeper: 7, state: "running")
            change(&status)
            return SupervisionOverview(status).lines.first ?? ""
        }

        @Test("Counts in the singular and the plural")
        func numbers() {
            #expect(line { ($0.failures, $0.calls) = (1, 1) }.contains("1 call, 1 failure in a row"))
            #expect(line { ($0.failures, $0.calls) = (2, 3) }.contains("3 calls, 2 failures in a row"))
            #expect(line { _ in } == "main      keeper 7, running")
        }
    }
}
