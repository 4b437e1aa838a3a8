internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import InMemoryBackend
internal import Logging
internal import Mailboxes
internal import Platform
internal import SharedCoreConfiguration
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("A host that is told to stop begins no attempt any more")
struct PushHostStopTests {
    private final class Recorder: Sendable {
        private let events = Mutex<[HostEvent]>([])
        let host = Mutex<PushHost?>(nil)

        func append(_ event: HostEvent) { events.withLock { $0.append(event) } }

        /// The processes of the attempts that have begun.
        var processes: [ProcessIdentity] {
            events.withLock { events in
                events.compactMap { if case .started(_, let pid, _) = $0 { ProcessIdentity(of: pid) } else { nil } }
            }
        }

        /// How many attempts have begun.
        var startCount: Int {
            events.withLock { events in events.count { if case .started = $0 { true } else { false } } }
        }
    }

    private let directory: TemporaryDirectory
    private let space = MemorySpace()

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Serves pushes one at a time, until an event of a kind. Each Executor fails as soon as there is a file `go`.
    ///
    /// The host is told to stop within that event, so on its own actor: it continues before any part of the stop that
    /// must wait for the actor.
    private func serve(
        _ pushes: [String], stoppingAt isMoment: @escaping @Sendable (HostEvent) -> Bool,
        _ body: (PushQueue, Recorder) async throws -> Void
    ) async throws -> Recorder {
        try OpenFile(path: directory.path(of: "fail"), .createNew).write(
            Array("until [ -e \(directory.path(of: "go")) ]; do sleep 0.05; done; exit 9".utf8), at: 0)
        let resolution = Resolution(
            flags: [:],
            environment: [
                "HOME": directory.path, "SHAREDCORE_EXECUTOR_COMMAND": "/bin/sh \(directory.path(of: "fail"))",
                "SHAREDCORE_EXECUTOR_ATTEMPTS": "2", "SHAREDCORE_EXECUTOR_RETRY_DELAY": "1h",
                "SHAREDCORE_EXECUTOR_BUDGET": "1h", "SHAREDCORE_EXECUTOR_LIMIT": "1",
            ], file: nil, workingDirectory: .path(directory.path))
        let group = try await space.open("a")
        let queue = try PushQueue(of: group)
        for push in pushes { _ = try await queue.send(Push(try #require(PushID.callID(push)))) }
        let recorder = Recorder()
        let host = PushHost(
            queue, settings: try ExecutorSettings(resolution, own: try ChildProcess.built("sharedcore")),
            cgroupLimit: nil,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { event in
            recorder.append(event)
            if isMoment(event) { recorder.host.withLock { $0 }?.stop() }
        }
        recorder.host.withLock { $0 = host }
        let work = Task { try await host.run() }
        do {
            try await body(queue, recorder)
        } catch {
            host.stop()
            throw error
        }
        try await withTimeout(TestTimeout.long, "the end of the host") { try await work.value }
        recorder.host.withLock { $0 = nil }
        await group.close()
        return recorder
    }

    private func letFail() throws {
        _ = try OpenFile(path: directory.path(of: "go"), .createNew)
    }

    /// The failure of an attempt that the stop cuts short could be the last one that the push may have.
    @Test("The pause of a push that is tried again ends without an attempt, and the push waits for the next host")
    func pause() async throws {
        try letFail()
        // The group lasts as long as a participant of it.
        let next = try await space.open("a")
        let recorder = try await serve(["1@x"]) { event in
            if case .postponed = event { true } else { false }
        } _: { _, _ in
        }
        #expect(recorder.startCount == 1)
        let push = try #require(try await PushQueue(of: next).pending.take().flatMap { PushRecord($0.bytes) })
        #expect(push.failures == 1)
        await next.close()
    }

    @Test("A push that waits for its turn does not get the place of the last Executor")
    func turn() async throws {
        let recorder = try await serve(["1@x", "2@x"]) { event in
            if case .ended = event { true } else { false }
        } _: { queue, _ in
            try await eventually("the second one waits for its turn", timeout: TestTimeout.long) {
                try await queue.count().taken == 2
            }
            try letFail()
        }
        #expect(recorder.startCount == 1)
    }

    @Test("An Executor in a call takes no slot: the next push starts, and no other (contract C17)")
    func call() async throws {
        let recorder = try await serve(["1@x", "2@x", "3@x"]) { event in
            if case .ended = event { true } else { false }
        } _: { queue, recorder in
            try await eventually("the first one runs", timeout: TestTimeout.long) { recorder.startCount == 1 }
            let host = try #require(recorder.host.withLock { $0 })
            let owner = try #require(recorder.processes.first)
            let transfer = Activity(.transfer, id: "1", begun: SystemClock().now())
            await host.note([transfer], of: owner)
            #expect(recorder.startCount == 1)
            let call = Activity(.call, id: "2", begun: SystemClock().now())
            await host.note([transfer, call], of: owner)
            await host.note([call], of: owner)
            try await eventually("the second one runs, and the third waits", timeout: TestTimeout.long) {
                let taken = try await queue.count().taken
                return recorder.startCount == 2 && taken == 3
            }
            // The activity counts again, past the limit.
            await host.note([], of: owner)
            try letFail()
        }
        #expect(recorder.startCount == 2)
    }
}
