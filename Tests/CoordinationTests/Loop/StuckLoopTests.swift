import Coordination
import CoreAPI
import CoreAPITesting
import FileNotifyBackend
import Glibc
import Platform
import TestSupport
import Testing

/// A loop with a callback that never returns, in a process of its own.
@Suite("LoopCore: a callback that does not return")
struct StuckLoopTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var group: String { directory.path(of: "group") }

    private func start(_ role: SessionRole, _ flaw: String = "hang", _ action: String = "endProcess") async throws
        -> ChildProcess
    {
        let child = try ChildProcess(
            try ChildProcess.built("sharedcore-test-peer"), ["loop", group, "\(role)", flaw, action], input: true,
            keepsErrors: true)
        for line in flaw == "hang" ? ["runs", "hangs"] : [] {
            // Either may be first.
            let printed = try await child.nextLine(timeout: TestTimeout.long)
            #expect(["runs", "hangs"].contains(printed), "\(line): \(printed ?? "nothing")")
        }
        return child
    }

    /// Runs the next core in this process, and returns the checker's report on the timeline.
    ///
    /// The witness reports overlaps concurrently with the core, so this waits until the timeline has as many.
    private func runNext(_ role: SessionRole, overlaps: Int = 0) async throws -> CheckReport {
        let handle = try await FileGroup.open(directory: group, as: SessionDescription(role: role, name: "next"))
        var environment = CoordinationEnvironment()
        environment.witness = FileWitness(path: group + "/witness")
        // A Main waits for as long as it takes, so that none is killed here.
        let options = CoordinationOptions(stopTimeout: TestTimeout.long)
        if role == .main {
            let main = try MainParticipant(of: handle, options: options, environment: environment) { IdleCore() }
            try await main.start()
            await main.stop()
        } else {
            let executor = try ExecutorParticipant(of: handle, options: options, environment: environment) {
                IdleCore()
            }
            try await executor.start()
            await executor.close()
        }
        var report = TimelineChecker.check(try await Timeline(handle).history())
        try await eventually("the witness has told") {
            report = TimelineChecker.check(try await Timeline(handle).history())
            return report.overlaps + report.supersededOverlaps >= overlaps
        }
        await handle.close()
        return report
    }

    @Test(
        "C3: its process ends in its bound, before another core runs",
        arguments: [SessionRole.executor, .main], ["close", "leave"])
    func ends(role: SessionRole, order: String) async throws {
        let child = try await start(role)
        try child.send(order)
        #expect(await child.end() == .exited(70))
        let text = child.errorText(upTo: 4096)
        #expect(
            text.contains("did not stop within 1.0 seconds") && text.contains("“dispatch” has not returned"), "\(text)")

        let report = try await runNext(.executor)
        #expect(report.overlaps == 0 && report.supersededOverlaps == 0)
    }

    @Test("C3: a Main that asks gets the core, and the witness has seen no two")
    func handover() async throws {
        let child = try await start(.executor)
        let report = try await runNext(.main)
        #expect(await child.end() == .exited(70))
        #expect(report.overlaps == 0 && report.supersededOverlaps == 0)
    }

    @Test("C15: told to give up it goes on, and the witness counts the overlap")
    func givesUp() async throws {
        let child = try await start(.executor, "hang", "giveUp")
        try child.send("close")
        #expect(try await child.nextLine(timeout: TestTimeout.long) == "closed")
        let report = try await runNext(.executor, overlaps: 1)
        #expect(report.overlaps == 0 && report.supersededOverlaps == 1)
        #expect(!child.hasEnded)
        await child.killNow()
    }

    @Test("It ends also where nothing reads its standard error, which is full")
    func fullErrors() async throws {
        let child = try await start(.executor)
        try child.send("fill")
        #expect(try await child.nextLine(timeout: TestTimeout.long) == "filled")
        try child.send("close")
        #expect(await child.end() == .killed(by: SIGKILL))
    }

    @Test("A call on another thread ends the program with a sentence")
    func foreignThread() async throws {
        let child = try await start(.executor, "foreign")
        let end = await child.end()
        #expect([.killed(by: SIGILL), .killed(by: SIGTRAP), .killed(by: SIGABRT)].contains(end), "\(end)")
        #expect(child.errorText(upTo: 1 << 16).contains("a call of another thread than the loop's"))
    }
}

private struct IdleCore: Core {
    func start(in context: CoreContext) async throws {}
    func iterate(in context: CoreContext) async throws { try await untilCancelled() }
    func stop() async {}
}
