internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

/// Pushes come while their host and its Executors are killed at random. The chance comes from a seed, which the environment
/// variable `SHAREDCORE_TEST_SEED` repeats.
@Suite("The host under fire", .enabled(if: TestScope.isCheck), .serialized)
struct KillLoopTests {
    private let program: HostProgram
    private let environment: [String: String]

    init() throws {
        program = try HostProgram()
        environment = [
            "HOME": program.directory.path, "XDG_STATE_HOME": program.directory.path(of: "state"),
            "XDG_CONFIG_HOME": program.directory.path(of: "config"), "XDG_RUNTIME_DIR": program.directory.path,
            "SHAREDCORE_EXECUTOR_ATTEMPTS": "10000", "SHAREDCORE_EXECUTOR_RETRY_DELAY": "20ms",
            "SHAREDCORE_EXECUTOR_LIMIT": "4",
            // The first pushes are asked for at the end.
            "SHAREDCORE_INBOX_LIFETIME": "24h",
        ]
    }

    private func open() async throws -> any SharedGroup {
        var configuration = BackendConfiguration(
            backend: "file", group: "default", stateDirectory: program.directory.path(of: "state/sharedcore"))
        configuration.durability = .process
        return try await BackendRegistry.bundled().open(configuration, as: SessionDescription(name: "test"))
    }

    private func startHost(_ more: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            program.path, ["serve", "--json", "--log-level", "error"],
            environment: environment.merging(more) { _, new in new },
            errors: program.directory.path(of: "errors"))
    }

    private func end(of host: ChildProcess) async throws -> ProgramEnd {
        try await withTimeout(TestTimeout.long, "the end of the host") { await host.end() }
    }

    /// The processes of this test: all name its directory.
    private var processes: [Int32] { ProcessView.naming(program.directory.path) }

    @Test("No push is lost and no process is left behind after a kill of any process at any time")
    func killLoop() async throws {
        let seed =
            ProcessInfo.processInfo.environment["SHAREDCORE_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...9999)
        var random = SeededRandom(seed: seed)
        let group = try await open()
        let queue = try PushQueue(of: group)
        var host = try startHost()
        var sent: [String] = []
        let duration = KillLoopTime.duration(or: .seconds(15))
        // Few enough for the last of them to be dealt with in good time.
        let mostPushes = 4 * Int(duration.components.seconds)
        let over = ContinuousClock.now + duration
        while ContinuousClock.now < over {
            for _ in 0..<Int.random(in: 0...2, using: &random) where sent.count < mostPushes {
                let id = "\(sent.count)@x"
                try program.deliver(id)
                _ = try await queue.send(Push(try #require(PushID.callID(id))))
                sent.append(id)
            }
            // The victim of each kill is chance, which is the point: no condition is waited for.
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...400, using: &random)))
            if Int.random(in: 0..<4, using: &random) == 0 {
                host.signal(.kill)
                _ = try await end(of: host)
                host = try startHost()
            } else if let record = try await group.get(HostRecord.key).flatMap({ HostRecord($0.value) }),
                let victim = record.executors.randomElement(using: &random),
                let identity = ProcessIdentity(of: victim.pid), processes.contains(victim.pid)
            {
                _ = try? ProcessHandle(identity).signal(.kill)
            }
        }
        try await eventually(
            "all pushes are served; seed \(seed)", timeout: TestTimeout.long
        ) {
            try await queue.count() == PushQueue.Count()
        }
        // An Executor has taken its message: no process needs to be asked for it any more.
        #expect(TemporaryDirectory.names(in: maildir + "/new").isEmpty, "seed \(seed)")
        #expect(TemporaryDirectory.names(in: maildir + "/cur").count == sent.count, "seed \(seed)")
        let inbox = try Inbox(group)
        for id in sent {
            let state = try await inbox.state(of: try #require(CallID(id)))
            #expect(state == .acknowledged, "\(id); seed \(seed)")
        }
        // A host that was started a moment ago has not installed its signal handler yet.
        try await eventually("the last host is in charge; seed \(seed)", timeout: TestTimeout.long) {
            try await group.get(HostRecord.key).flatMap { HostRecord($0.value) }?.pid == host.pid
        }
        host.signal(.terminate)
        #expect(try await end(of: host) == .exited(0))
        let left = processes
        #expect(left.isEmpty, "seed \(seed)")
        await group.close()
    }

    private var maildir: String { program.directory.path(of: "state/sharedcore/default/Maildir") }

    /// In a test of every change a small burst.
    @Test("A burst of pushes starts few cores and loses none")
    func burst() async throws {
        let size = TestScope.isAtLength ? 1_000 : 40
        let group = try await open()
        let queue = try PushQueue(of: group)
        for number in 0..<size {
            try program.deliver("\(number)@x")
            _ = try await queue.send(Push(try #require(PushID.callID("\(number)@x"))))
        }
        // On a busy machine a whole wave may take longer than the usual 30 s.
        let host = try startHost(["SHAREDCORE_EXECUTOR_BUDGET": "1h"])
        try await eventually("all are served", timeout: TestTimeout.long * 4) {
            try await queue.count() == PushQueue.Count()
        }
        host.signal(.terminate)
        #expect(try await end(of: host) == .exited(0))
        let ends = host.lines.compactMap { line in
            try? JSONDecoder().decode([String: JSONField].self, from: Data(line.utf8))
        }.filter { $0["event"] == .text("ended") }
        let printed = ends.compactMap { end -> [String: JSONField]? in
            guard case .text(let line) = end["printed"] else { return nil }
            return try? JSONDecoder().decode([String: JSONField].self, from: Data(line.utf8))
        }
        let delivered = Set(printed.filter { $0["event"] == .text("message") }.compactMap { $0["callID"] })
        #expect(delivered.count == size)
        let cores = printed.reduce(0) { sum, line in
            guard case .number(let count) = line["coreStarts"] else { return sum }
            return sum + Int(count)
        }
        // One core for all would need all Executors at once; each wave of them starts a few at most.
        #expect(cores >= 1 && cores <= max(4, size / 4), "\(cores) cores for \(size) pushes")
        await group.close()
    }
}
