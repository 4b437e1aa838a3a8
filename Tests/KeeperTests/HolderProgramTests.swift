internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import KeptSockets
internal import Platform
internal import TestSupport
internal import Testing

extension KeeperTests {
    /// The program that owns for a Main that rests, where no host runs.
    @Suite("C26: sharedcore-holder", .serialized)
    struct HolderProgramTests {
        private let stage: KeeperStage
        private let server: LineServer
        private var directory: String { stage.directory.path(of: "group") }

        init() throws {
            stage = try KeeperStage()
            server = try LineServer()
        }

        private func holder(_ more: String...) throws -> ChildProcess {
            try ChildProcess(
                try ChildProcess.built("sharedcore-holder"),
                ["--directory", directory, "--keeper", stage.place.directory, "--wake-bound-ms", "30000"] + more,
                errors: stage.directory.path(of: "errors"))
        }

        private var errors: [String] { KeeperStage.lines(stage.directory.path(of: "errors")) }

        private func restingMain() async throws {
            try await stage.start([
                try ChildProcess.built("sharedcore-test-main"), String(server.port), stage.notebook, directory,
            ])
            try await stage.untilNoted("owns")
            try await server.send("rest")
            try await stage.untilNoted("sleeps")
        }

        private func owner() async throws -> GroupOwner? {
            let group = try await FileGroup.open(
                directory: directory, as: SessionDescription(role: .tool, name: "observer"))
            let owner = try await GroupOwner.current(in: group)
            await group.close()
            return owner
        }

        @Test(
            "Main rests with it, a call wakes Main and tells its keeper; SIGTERM wakes Main, and ends it with status 0")
        func holds() async throws {
            let holder = try holder()
            try await eventually("it serves; errors: \(errors)") { holder.lines.first?.contains("serving") == true }
            try await restingMain()
            #expect(try await owner()?.process == holder.identity)
            #expect(try await owner()?.name == "sharedcore-test-main")

            let group = try await FileGroup.open(
                directory: directory, as: SessionDescription(role: .executor, name: "executor"))
            let executor = try ExecutorParticipant(of: group) { NoCore() }
            let callID = try #require(CallID("call-1"))
            let wait = Task { try await executor.message(forCallID: callID, timeout: .seconds(600)) }
            try await stage.untilNoted("core resumes: call")
            try await stage.until("its keeper was told") { $0.presence == "woken" }
            wait.cancel()
            _ = try? await wait.value
            await executor.close()
            await group.close()

            try await server.send("rest")
            try await stage.untilNoted("sleeps", count: 2)
            holder.signal(.terminate)
            #expect(await holder.end() == .exited(0))
            try await stage.untilNoted("core resumes: user")
            #expect(try await owner()?.role == .main && errors == [])
            #expect(stage.notes.count { $0 == "core starts" } == 1)
        }

        @Test("A group of durable commits: Main rests with it as well")
        func durable() async throws {
            let holder = try holder("--durability", "disk")
            try await restingMain()
            #expect(try await owner()?.process == holder.identity)
            holder.signal(.interrupt)
            #expect(await holder.end() == .exited(0))
        }

        private struct NoCore: Core {
            func start(in context: CoreContext) async throws {}
            func iterate(in context: CoreContext) async throws {}
            func stop() async {}
        }

        @Test(
            "Wrong usage ends with status 64 and one line",
            arguments: [
                [], ["--directory"], ["--directory", "relative"], ["--directory", "/g", "--bogus", "1"],
                ["--directory", "/g", "--durability", "memory"], ["--directory", "/g", "--wake-bound-ms", "999"],
                ["--directory", "/g", "--keeper", "relative"],
            ])
        func usage(arguments: [String]) async throws {
            let ended = try ChildProcess(
                try ChildProcess.built("sharedcore-holder"), arguments, errors: stage.directory.path(of: "errors"))
            #expect(await ended.end() == .exited(64))
            #expect(ended.lines.isEmpty && errors.count == 1)
        }

        @Test("--help lists the options, with status 0; a directory that others may write ends it with status 78")
        func helpAndForbidden() async throws {
            let help = try ChildProcess(try ChildProcess.built("sharedcore-holder"), ["--help"])
            #expect(await help.end() == .exited(0))
            #expect(help.lines.count { $0.hasPrefix("  --") } == 5)

            #expect(mkdir(directory, 0o700) == 0 && chmod(directory, 0o777) == 0)
            let refused = try holder()
            #expect(await refused.end() == .exited(78))
            #expect(errors.count == 1 && errors.first?.contains(directory) == true)
        }

        /// The resident memory that it may have: unoptimized code and the fail points are a good part of it.
        private static var residentKibibytes: Int {
            #if DEBUG
                24_000
            #else
                12_000
            #endif
        }

        @Test("It keeps within 12 MB of resident memory while a Main rests, where it is optimized")
        func memory() async throws {
            let holder = try holder()
            try await restingMain()
            let status = KeeperStage.lines("/proc/\(holder.pid)/status")
            let line = try #require(status.first { $0.hasPrefix("VmRSS:") })
            let kibibytes = try #require(
                line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
            #expect(kibibytes <= Self.residentKibibytes, "\(line)")
        }
    }
}
