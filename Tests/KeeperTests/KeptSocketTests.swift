internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import TestSupport
internal import Testing

extension KeeperTests {
    /// A real server over TCP, a real keeper, a real Main.
    @Suite("P6, P7: kept sockets", .serialized)
    struct KeptSocketTests {
        private let stage: KeeperStage
        private let server: LineServer

        init() throws {
            stage = try KeeperStage()
            server = try LineServer()
        }

        /// Starts a Main that is connected and kept.
        private func start(_ options: SupervisionOptions = KeeperStage.options()) async throws {
            try await stage.start(mainOf: server, options)
            try await stage.untilNoted("connected")
            try await eventually("the server has the connection") { server.connectionCount == 1 }
        }

        /// Main has read all of these lines, in this order and each once, over the one connection that it ever had.
        ///
        /// - Parameter read: The lines that were read.
        private func expectRead(_ lines: [String], in read: [String]? = nil) {
            #expect(read ?? stage.readLines == lines)
            #expect(server.connectionCount == 1)
            #expect(server.closeCount == 0)
        }

        @Test("Data wakes a Main that sleeps, with its budget, and it reads what came")
        func asleep() async throws {
            try await start()
            let main = stage.mainPid
            try await server.send("sleep")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            #expect(try await stage.status().kept == ["line"])
            try await server.send("one")
            try await stage.untilNoted("read one")
            #expect(try await stage.status().presence == "woken")
            try await stage.untilNoted("event wake(budget: 120.0 seconds)")
            try await server.send("sleep")
            try await stage.until("it sleeps again") { $0.presence == "asleep" }
            try await server.send("two")
            try await stage.untilNoted("read two")
            #expect(stage.mainPid == main)
            expectRead(["sleep", "one", "sleep", "two"])
        }

        @Test("P6: the holder's wake is told a Main that sleeps, with its budget; a wake of another Main is refused")
        func wokenByHolder() async throws {
            try await start()
            let client = KeeperClient(place: stage.place)
            let main = try #require(ProcessIdentity(of: try await stage.startedMain()))
            let other = ProcessIdentity(bootID: main.bootID, pid: main.pid, startTime: main.startTime + 1)
            try await server.send("sleep")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            #expect(await !onThread { client.mainWasWoken(other) })
            #expect(try await stage.status().presence == "asleep")
            #expect(await onThread { client.mainWasWoken(main) })
            try await stage.untilNoted("event woken(budget: 120.0 seconds)")
            #expect(try await stage.status().presence == "woken")
            // The next wake comes before Main sleeps again. A holder reports each wake once.
            #expect(await onThread { client.mainWasWoken(main) })
            #expect(stage.notes.count { $0.hasPrefix("event woken") } == 1)
            try await server.send("sleep")
            try await stage.untilNoted("event woken(budget: 120.0 seconds)", count: 2)
            try await server.send("sleep")
            try await stage.until("it sleeps again") { $0.presence == "asleep" }
            expectRead(["sleep", "sleep", "sleep"])
        }

        @Test("P6: a Main that its holder's wake does not reach is stopped at the end of the budget")
        func wakeDoesNotReach() async throws {
            try await start(
                KeeperStage.options {
                    $0.wakeBudget = .milliseconds(200)
                    $0.wakeWarning = .milliseconds(100)
                })
            let main = try await stage.startedMain()
            let identity = try #require(ProcessIdentity(of: main))
            try await server.send("sleep")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            kill(main, SIGSTOP)
            let client = KeeperClient(place: stage.place)
            #expect(await onThread { client.mainWasWoken(identity) })
            try await stage.until("it is killed") { $0.lastEnd == "killed 9 budget" }
            try await stage.untilNoted("recovered")
            #expect(server.closeCount == 0)
        }

        @Test("P8: a Main that exits with 0 at rest is closed by its user; after another end it is started for data")
        func exitsAtRest() async throws {
            try await start()
            try await server.send("exit-asleep 1")
            try await server.send("one")
            try await stage.untilNoted("read one")
            #expect(stage.notes.contains("recovered"))
            try await server.send("exit-asleep 0")
            try await eventually("the peer sees the close") { server.closeCount == 1 }
            try await stage.until("it is down") { $0.state == "down" && $0.kept == [] }
        }

        /// Runs a blocking call on a thread of its own.
        private func onThread(_ body: @escaping @Sendable () -> Bool) async -> Bool {
            await SerialThread(name: "holder").run(body)
        }

        @Test("Data that comes while Main falls asleep wakes it at once")
        func dozing() async throws {
            try await start()
            try await server.send("sleep\none\nsleep\ntwo")
            try await stage.untilNoted("read two")
            expectRead(["sleep", "one", "sleep", "two"])
        }

        @Test("Main exits with 1: the peer sees no close, and the next Main reads what came meanwhile")
        func exited() async throws {
            // Long enough for the pause to be seen, however slow the machine.
            try await start(
                KeeperStage.options {
                    $0.restart.firstDelay = .seconds(6)
                    $0.restart.longestDelay = .seconds(6)
                })
            try await server.send("exit 1")
            try await stage.untilNoted("recovered")
            try await server.send("exit 1")
            try await stage.until("it waits") { $0.state == "waiting" }
            try await server.send("meanwhile")
            try await stage.untilNoted("read meanwhile")
            expectRead(["exit 1", "exit 1", "meanwhile"])
            #expect(stage.notes.contains("start background=true"))
        }

        @Test(
            "Main is killed, asleep and awake: the peer sees no close, and no byte is lost", arguments: [true, false])
        func killed(whileAsleep: Bool) async throws {
            try await start()
            var sent: [String] = []
            for number in 0..<4 {
                if whileAsleep {
                    sent.append("sleep")
                    try await server.send("sleep")
                    try await stage.until("it sleeps") { $0.presence == "asleep" }
                }
                kill(try await stage.startedMain(), SIGKILL)
                sent.append("line \(number)")
                try await server.send("line \(number)")
                try await stage.untilNoted("read line \(number)")
            }
            expectRead(sent, in: stage.readLines.withoutRepeats)
        }

        @Test("The keeper is killed: Main registers with the next one, which then brings it back as any")
        func keeperKilled() async throws {
            try await start()
            let main = stage.mainPid
            stage.keeper?.signal(.kill)
            _ = await stage.keeper?.end()
            try await stage.untilNoted("event keeperLost")
            try await server.send("without")
            try await stage.untilNoted("read without")
            try await stage.start(mainOf: server)
            try await stage.untilNoted("event keeperFound")
            #expect(stage.mainPid == main)
            #expect(try await stage.status().kept == ["line"])
            kill(try #require(main), SIGKILL)
            try await server.send("after")
            try await stage.untilNoted("read after")
            expectRead(["without", "after"])
        }

        @Test("The keeper is killed while Main sleeps: the next one wakes it")
        func keeperKilledAsleep() async throws {
            try await start()
            let main = stage.mainPid
            try await server.send("sleep")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            stage.keeper?.signal(.kill)
            _ = await stage.keeper?.end()
            try await server.send("one")
            try await stage.start(mainOf: server)
            try await stage.untilNoted("read one")
            #expect(stage.mainPid == main)
            expectRead(["sleep", "one"])
        }

        @Test("P6: what still runs at the limit of a wake is stopped, and its socket stays")
        func budget() async throws {
            // Until its warning Main has to read a line, and until its end to write down that it was warned.
            try await start(
                KeeperStage.options {
                    $0.wakeBudget = .seconds(6)
                    $0.wakeWarning = .seconds(3)
                })
            try await server.send("sleep")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            let main = stage.mainPid
            try await server.send("one")
            try await stage.until("it is killed") { $0.lastEnd == "killed 9 budget" }
            try await stage.untilNoted("recovered")
            #expect(stage.mainPid != main)
            #expect(stage.notes.contains { $0.hasPrefix("event budgetEnds") })
            expectRead(["sleep", "one"])
        }

        @Test("P6: an active call outlasts the budget of its wake and the watchdog")
        func call() async throws {
            try await start()
            try await server.send("calls 1")
            try await stage.until("a call is active") { $0.calls == 1 }
            let main = stage.mainPid
            // Only now a wake has next to no time, so that the call is there before it, however slow the machine.
            let budget = Duration.milliseconds(100)
            let options = KeeperStage.options {
                $0.wakeBudget = budget
                $0.wakeWarning = budget / 2
            }
            #expect(try await stage.ask(.configure(stage.configuration(of: server, options))) == .done)
            try await server.send("sleep")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            let start = ContinuousClock.now
            var said = 0
            repeat {
                try await server.send("line \(said)")
                try await stage.untilNoted("read line \(said)")
                said += 1
            } while start.duration(to: .now) < budget * 5
            #expect(try await stage.status().presence == "woken")
            #expect(stage.mainPid == main)
            try await server.send("calls 0")
            try await stage.until("it is killed after the call") { $0.lastEnd == "killed 9 budget" }
            #expect(server.closeCount == 0)
        }

        @Test("A socket that Main lets go is closed with Main; so are all when its user closes it")
        func letGo() async throws {
            try await start()
            try await server.send("exit 0")
            try await eventually("the peer sees the close") { server.closeCount == 1 }
            try await stage.until("it is down") { $0.state == "down" && $0.kept == [] }
        }

        @Test("A socket that was released is kept no more")
        func released() async throws {
            try await start()
            try await server.send("release")
            try await stage.until("nothing is kept") { $0.kept == [] }
            try await server.send("exit 1")
            try await eventually("the peer sees the close") { server.closeCount == 1 }
        }
    }
}
