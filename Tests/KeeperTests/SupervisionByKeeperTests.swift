internal import CoreAPITesting
internal import Glibc
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import TestSupport
internal import Testing

extension KeeperTests {
    @Suite("A keeper and its Main", .serialized)
    struct SupervisionByKeeperTests {
        private let stage: KeeperStage

        init() throws {
            stage = try KeeperStage()
        }

        /// A shell as Main, which writes down how it was started.
        private func shell(_ script: String) -> [String] {
            ["sh", "-c", "echo background=$SHAREDCORE_BACKGROUND >> \(stage.notebook); \(script)"]
        }

        @Test("P8: a Main that is killed is back, in the background, and how it ended is kept")
        func killed() async throws {
            try await stage.start(shell("exec sleep 1000"))
            try await stage.untilNoted("background=1")
            let first = try await stage.startedMain()
            kill(first, SIGKILL)
            try await stage.until("a second Main") { $0.starts == 2 && $0.main != first && $0.state == "running" }
            try await stage.untilNoted("background=1", count: 2)
            #expect(try await stage.status().lastEnd == "killed 9")
        }

        @Test("The failures in a row are over once Main has run well for a while")
        func steady() async throws {
            try await stage.start(
                shell("[ $(wc -l < \(stage.notebook)) -ge 3 ] || exit 3; exec sleep 1000"),
                KeeperStage.options { $0.restart.steadyAfter = .seconds(1) })
            try await stage.until("it is well again") { $0.starts == 3 && $0.state == "running" && $0.failures == 0 }
        }

        @Test("P8: a Main that exits with 3 is back; one that exits with 0 stays down, also with the next keeper")
        func exits() async throws {
            try await stage.start(shell("[ $(wc -l < \(stage.notebook)) = 3 ] && exit 0; exit 3"))
            try await stage.until("it is closed") { $0.state == "down" && $0.lastEnd == "exited 0" }
            #expect(stage.notes.count == 3)
            stage.keeper?.signal(.kill)
            _ = await stage.keeper?.end()

            try await stage.start(shell("exec sleep 1000"))
            #expect(try await stage.status().state == "down")
            #expect(stage.notes.count == 3)
            try await stage.ask(.start(inForeground: true))
            try await stage.untilNoted("background=0")
        }

        @Test("P8: what was closed in another run of the machine is started at once")
        func reboot() async throws {
            let memory = try OpenFile(path: stage.directory.path(of: KeeperPlace.memoryName), .create)
            try memory.writeStream(Array("closed 00000000000000000000000000000001\n".utf8))
            try await stage.start(shell("exec sleep 1000"))
            try await stage.untilNoted("background=1")
        }

        @Test("A keeper whose directory was removed ends, and its Main with it")
        func noDirectory() async throws {
            let keeper = try await stage.start(shell("exec sleep 1000"))
            try await stage.until("Main runs") { $0.state == "running" }
            let main = try await stage.startedMain()
            // The visitor's question makes the keeper check now, and not a minute later. The keeper may have checked,
            // and ended, before.
            let visitor = try stage.connect()
            TemporaryDirectory.remove(stage.directory.path)
            _ = try? visitor.send(Array(KeeperRequest.status.text.utf8))
            let end = try await withTimeout(TestTimeout.usual, "the end of the keeper") { await keeper.end() }
            #expect(end == .exited(0))
            #expect(kill(main, 0) == -1)
        }

        @Test("A command that cannot be run is told and tried again")
        func noCommand() async throws {
            try await stage.start(["/nowhere/at/all"])
            try await stage.until("several starts") { $0.starts >= 3 && $0.lastEnd == "exited 127" }
        }

        @Test("A second keeper of a directory is refused, and the first goes on")
        func second() async throws {
            let keeper = try await stage.start(shell("exec sleep 1000"))
            let other = try ChildProcess(
                try ChildProcess.built("sharedcore-keeper"), ["--directory", stage.directory.path, "--", "false"],
                errors: stage.directory.path(of: "other"))
            #expect(await other.end() == .exited(1))
            #expect(try await stage.status().keeper == keeper.pid)
        }

        @Test("A keeper that is killed leaves Main alone; the next one takes it over, and starts no second one")
        func keeperKilled() async throws {
            let first = try await stage.start(shell("exec sleep 1000"))
            try await stage.untilNoted("background=1")
            let main = try await stage.startedMain()
            first.signal(.kill)
            _ = await first.end()
            try await stage.start(shell("exec sleep 1000"))
            #expect(try await stage.status().main == main)
            #expect(stage.notes.count == 1)
            kill(main, SIGKILL)
            try await stage.untilNoted("background=1", count: 2)
            #expect(try await stage.status().lastEnd == "unseen")
        }

        @Test("A Main has its lock before its program begins, and no second program begins beside it")
        func lock() async throws {
            try await stage.start(shell("exec sleep 1000"))
            try await stage.untilNoted("background=1")
            let other = try ChildProcess(
                try ChildProcess.built("sharedcore-keeper"),
                ["start-main", stage.place.mainLock, "sh", "-c", "echo second >> \(stage.notebook)"])
            #expect(await other.end() == .exited(75))
            #expect(stage.notes == ["background=1"])
        }

        @Test("Children of a Main do not hold its lock")
        func children() async throws {
            try await stage.start(shell("sleep 1000 & echo $! >> \(stage.notebook).child; exec sleep 1000"))
            try await stage.until("its child runs") { _ in
                (try? FileStatus(ofPath: stage.notebook + ".child"))?.byteCount ?? 0 > 1
            }
            let first = try await stage.startedMain()
            kill(first, SIGKILL)
            try await stage.untilNoted("background=1", count: 2)
            killChildren()
        }

        private func killChildren() {
            let bytes = (try? OpenFile(path: stage.notebook + ".child", .read).read(count: 1000, at: 0)) ?? []
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                if let pid = Int32(line) { kill(pid, SIGKILL) }
            }
        }

        @Test("A stop ends Main, one that ignores it too, and it stays down; a start brings it back")
        func stop() async throws {
            try await stage.start(
                shell("trap '' TERM; while :; do sleep 0.1; done"),
                KeeperStage.options { $0.stopGrace = .milliseconds(200) })
            try await stage.untilNoted("background=1")
            try await stage.ask(.stop)
            try await stage.until("it is down") { $0.state == "down" && $0.lastEnd == "killed 9 stop" }
            try await stage.ask(.start(inForeground: false))
            try await stage.untilNoted("background=1", count: 2)
        }

        @Test("SIGTERM ends the keeper and Main with it, and nothing is left to connect to")
        func terminated() async throws {
            let keeper = try await stage.start(shell("exec sleep 1000"))
            try await stage.untilNoted("background=1")
            keeper.signal(.terminate)
            let end = try await withTimeout(TestTimeout.usual, "the end of the keeper") { await keeper.end() }
            #expect(end == .exited(0))
            #expect(stage.mainPid == nil)
            #expect(!stage.directory.names.contains(KeeperPlace.socketName))
        }

        @Test("The watchdog kills a Main that says nothing")
        func watchdog() async throws {
            try await stage.start(
                shell("exec sleep 1000"), KeeperStage.options { $0.watchdog = .milliseconds(300) })
            try await stage.until("it was killed") { $0.lastEnd == "killed 9 watchdog" && $0.starts >= 2 }
        }

        @Test("A keeper that runs is told another command, for the next start")
        func configured() async throws {
            try await stage.start(shell("exec sleep 1000"))
            try await stage.untilNoted("background=1")
            let configuration = KeeperConfiguration(
                command: ["sh", "-c", "echo other >> \(stage.notebook); exec sleep 1000"],
                options: KeeperStage.options())
            #expect(try await stage.ask(.configure(configuration)) == .done)
            kill(try await stage.startedMain(), SIGKILL)
            try await stage.untilNoted("other")
        }
    }
}
