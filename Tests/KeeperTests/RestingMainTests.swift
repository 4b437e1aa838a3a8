internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import TestSupport
internal import Testing

extension KeeperTests {
    /// A real keeper with a real Main, which rests with a holder in a group of files.
    @Suite("C26: a Main that rests, and its keeper", .serialized)
    struct RestingMainTests {
        private let stage: KeeperStage
        private let server: LineServer
        private let registrar: Registrar
        private var directory: String { stage.directory.path(of: "group") }

        init() throws {
            stage = try KeeperStage()
            server = try LineServer()
            registrar = try Registrar(at: stage.directory.path(of: "registrar"))
        }

        private func command() throws -> [String] {
            [
                try ChildProcess.built("sharedcore-test-main"), String(server.port), stage.notebook, directory,
                registrar.path,
            ]
        }

        /// Expects that Main's core has registered once, and that no second contact exists beside it.
        private func expectOneContact() {
            #expect(registrar.registered == ["main"] && registrar.overlaps == [])
            #expect(stage.notes.count { $0 == "core starts" } == 1)
            registrar.close()
        }

        /// A holder in this process, which reports to the keeper.
        ///
        /// - Parameter told: How many wakes the keeper has heard of.
        private func holder(telling told: Box<Int> = Box(0)) async throws -> HolderParticipant {
            let group = try await FileGroup.open(
                directory: directory, as: SessionDescription(role: SessionRole(rawValue: "holder"), name: "holder"))
            var options = CoordinationOptions()
            options.wakeBound = .seconds(30)
            let keeper = KeeperClient(place: stage.place)
            let holder = try HolderParticipant(of: group, options: options) { main in
                let isHeard = await SerialThread(name: "keeper").run { keeper.mainWasWoken(main) }
                if isHeard { told.update { $0 += 1 } }
            }
            try await holder.start()
            return holder
        }

        /// Starts a Main that rests and sleeps.
        private func restingMain(_ options: SupervisionOptions = KeeperStage.options()) async throws -> Int32 {
            try await stage.start(try command(), options)
            try await stage.untilNoted("owns")
            try await server.send("rest")
            try await stage.untilNoted("sleeps")
            try await stage.until("it sleeps") { $0.presence == "asleep" }
            return try await stage.startedMain()
        }

        @Test("The holder's wake is told the keeper; Main resumes, and rests again")
        func woken() async throws {
            let holder = try await holder()
            let main = try await restingMain()
            try await eventually("the holder sees that it holds") { await holder.isHolding }
            await holder.wakeMain(for: .push)
            try await stage.untilNoted("core resumes: push")
            try await stage.untilNoted("event woken(budget: 120.0 seconds)")
            try await server.send("rest")
            try await stage.untilNoted("sleeps", count: 2)
            #expect(stage.mainPid == main)
            expectOneContact()
            await holder.stop()
        }

        @Test("A wake between Main's rest and its sleep is told to Main as soon as it sleeps")
        func wokenBeforeItsSleep() async throws {
            let told = Box(0)
            let holder = try await holder(telling: told)
            try await stage.start(try command(), KeeperStage.options())
            try await stage.untilNoted("owns")
            try await server.send("rest-first")
            try await stage.untilNoted("rests")
            await holder.wakeMain(for: .push)
            try await stage.untilNoted("core resumes: push")
            try await eventually("the keeper has heard of it") { told.value == 1 }
            #expect(!stage.notes.contains("event woken(budget: 120.0 seconds)"))
            try await server.send("sleep")
            try await stage.untilNoted("event woken(budget: 120.0 seconds)")
            try await stage.until("its budget runs") { $0.presence == "woken" }
            await holder.stop()
        }

        @Test("A Main that does not see its holder's wake is killed by its keeper after the budget, and owns anew")
        func doesNotSeeItsWake() async throws {
            let holder = try await holder()
            let main = try await restingMain(
                KeeperStage.options {
                    $0.wakeBudget = .milliseconds(500)
                    $0.wakeWarning = .milliseconds(400)
                })
            kill(main, SIGSTOP)
            let waking = Task { await holder.wakeMain(for: .push) }
            try await stage.until("it is killed") { $0.lastEnd == "killed 9 budget" }
            try await stage.untilNoted("owns", count: 2)
            await waking.value
            #expect(stage.mainPid != main)
            try await eventually("the holder sees that Main owns") { await !holder.isHolding }
            await holder.stop()
        }

        @Test("A Main at rest whose keeper is killed resumes, and rests again with the next keeper")
        func keeperLost() async throws {
            let holder = try await holder()
            let main = try await restingMain()
            let keeper = try #require(stage.keeper)
            keeper.signal(.kill)
            try await stage.untilNoted("event keeperLost")
            try await stage.untilNoted("resumed")
            try await eventually("the holder sees that Main owns") { await !holder.isHolding }
            try await stage.start(try command())
            try await stage.untilNoted("event keeperFound")
            try await stage.untilNoted("rests", count: 2)
            try await eventually("the holder sees that it holds") { await holder.isHolding }
            #expect(stage.mainPid == main)
            expectOneContact()
            await holder.stop()
        }
    }
}
