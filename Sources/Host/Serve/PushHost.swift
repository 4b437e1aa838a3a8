internal import Coordination
internal import CoreAPI
internal import Lifecycle
internal import Logging
internal import Mailboxes
internal import Platform
internal import ProgramOutput

/// Serves the pushes of a group: takes them, starts an Executor for each within the limit, and acknowledges a push when its
/// Executor has ended by itself.
///
/// A push whose Executor fails stays in this host's hand and is tried again after a pause. What is in its hand when the host
/// stops or dies goes back to the queue with its session.
actor PushHost {
    private let queue: PushQueue
    private let logger: Logger
    private let cage: MemoryCage?
    private let tell: @Sendable (HostEvent) -> Void
    private let slots: ExecutorSlots
    private let stopping = StopSignal()

    private var settings: ExecutorSettings
    private var executors: [Int32: (callID: CallID, process: ExecutorProcess)] = [:]
    private var retrying = 0
    /// Why it cannot go on.
    private var failure: SharedCoreError?

    /// How long a step waits that the store refused for now.
    private static let storePause = Duration.seconds(1)

    /// - Parameter tell: Told what happens.
    init(
        _ queue: PushQueue, settings: ExecutorSettings, cage: MemoryCage?, logger: Logger,
        tell: @escaping @Sendable (HostEvent) -> Void
    ) {
        self.queue = queue
        self.settings = settings
        self.cage = cage
        self.logger = logger
        self.tell = tell
        slots = ExecutorSlots(limit: settings.limit)
    }

    /// Serves until it is told to stop.
    ///
    /// - Throws: The store's error when this host's session is over.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            while !stopping.isRaised {
                do throws(SharedCoreError) {
                    try await takePushes(in: &group)
                } catch {
                    await note(error, at: "pushes cannot be taken")
                }
            }
        }
        if let failure { throw failure }
    }

    /// Takes no more pushes, and asks the Executors that run to end.
    nonisolated func stop() {
        stopping.raise()
        Task { await stopAll() }
    }

    /// Goes by other settings from now on; Executors that run keep theirs.
    func adopt(_ settings: ExecutorSettings) {
        self.settings = settings
        slots.setLimit(settings.limit)
    }

    /// How this host is doing.
    func record(pid: Int32) -> HostRecord {
        var record = HostRecord(pid: pid, settings: settings, isCaged: cage != nil)
        record.executors = executors.values.map {
            HostRecord.Executor(callID: $0.callID.text, pid: $0.process.process.pid)
        }
        .sorted { $0.pid < $1.pid }
        record.retrying = retrying
        return record
    }

    private func stopAll() {
        slots.close()
        for (_, process) in executors.values { process.stop() }
    }

    private func takePushes(in group: inout DiscardingTaskGroup) async throws(SharedCoreError) {
        let deliveries = try await queue.pending.deliveries()
        let ending = Task { [stopping] in
            await stopping.wait()
            deliveries.cancel()
        }
        defer {
            ending.cancel()
            deliveries.cancel()
        }
        for try await delivery in deliveries {
            let taken = PushQueue.Taken(delivery: delivery, push: Push(delivery.bytes))
            // One push waits in this hand for its turn; the others wait in the queue, for any host.
            guard await slots.take() else { return }
            group.addTask { await self.serve(taken) }
        }
    }

    /// Serves one push to its end. It has a slot already.
    private func serve(_ taken: PushQueue.Taken) async {
        guard var push = taken.push, let callID = PushID.callID(push.callID) else {
            slots.giveBack()
            logger.error("a push cannot be read here; it is given up: \(taken.delivery.item)")
            return await insist("a push cannot be given up") { () async throws(SharedCoreError) in
                try await self.queue.giveUp(taken.delivery.bytes, taken)
            }
        }
        tell(.taken(callID: push.callID))
        while true {
            let end = await runExecutor(for: callID, attempt: push.failures + 1)
            slots.giveBack()
            switch end.verdict {
            case .interrupted: return
            case .served: return await acknowledge(push, taken)
            case .failed: break
            }
            push.failures += 1
            push.lastFailure = end.reason
            guard case .again(let pause) = settings.retry.decision(after: push.failures) else {
                return await giveUp(push, taken)
            }
            tell(.postponed(callID: push.callID, failures: push.failures, pause: pause, reason: end.reason))
            let noted = push
            await insist("a failure cannot be written down") { () async throws(SharedCoreError) in
                try await self.queue.note(noted, for: taken)
            }
            retrying += 1
            await stopping.pause(pause)
            retrying -= 1
            guard await slots.take() else { return }
        }
    }

    /// What one attempt came to, and why, for people.
    private struct Attempt {
        let verdict: ExecutorEnd.Verdict
        let reason: String
    }

    private func runExecutor(for callID: CallID, attempt: Int) async -> Attempt {
        let executor: ExecutorProcess
        do {
            executor = try await ExecutorProcess.start(
                settings.launch.program(for: callID), limits: settings.limits, cage: cage)
        } catch {
            return Attempt(verdict: .failed, reason: "its Executor cannot be started: \(error)")
        }
        let pid = executor.process.pid
        executors[pid] = (callID, executor)
        tell(.started(callID: callID.text, pid: pid, attempt: attempt))
        if stopping.isRaised { executor.stop() }
        let end = await executor.end()
        executors[pid] = nil
        tell(.ended(callID: callID.text, pid: pid, end))
        return Attempt(verdict: end.verdict, reason: end.description)
    }

    private func acknowledge(_ push: Push, _ taken: PushQueue.Taken) async {
        await insist("a push cannot be acknowledged") { () async throws(SharedCoreError) in
            try await self.queue.acknowledge(taken)
        }
        tell(.served(callID: push.callID, after: queue.age(of: push)))
    }

    private func giveUp(_ push: Push, _ taken: PushQueue.Taken) async {
        await insist("a push cannot be given up") { () async throws(SharedCoreError) in
            try await self.queue.giveUp(push.bytes, taken)
        }
        logger.error(
            "the push “\(ValueText.oneLine(push.callID))” is given up after \(push.failures) attempts: \(push.lastFailure ?? "")"
        )
        tell(.givenUp(callID: push.callID, failures: push.failures, reason: push.lastFailure ?? ""))
    }

    /// Does a step in the store until it is done, or until nothing can be done any more.
    private func insist(
        _ problem: String, _ step: @Sendable () async throws(SharedCoreError) -> Void
    ) async {
        for _ in 0..<60 {
            do throws(SharedCoreError) {
                return try await step()
            } catch {
                // Another hand has it by now.
                if error.code == .guardFailed { return }
                await note(error, at: problem)
                if failure != nil { return }
            }
        }
    }

    /// Takes note of an error of the store: one that may pass is waited out, any other one ends this host.
    private func note(_ error: SharedCoreError, at problem: String) async {
        switch error.code {
        case .sessionEnded, .closed, .corrupt, .incompatible, .unsupported, .invalidArgument:
            failure = failure ?? error
            stop()
        default:
            logger.warning("\(problem): \(error.sentence)")
            // Not one that ends with the stop: what is done meanwhile is written down all the same.
            try? await Task.sleep(for: Self.storePause)
        }
    }
}
