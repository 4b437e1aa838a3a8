internal import Coordination
internal import CoreAPI
internal import Lifecycle
internal import Logging
internal import Mailboxes
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Serves the pushes of a group: takes them, starts an Executor for each within the limit, and acknowledges a push when its
/// Executor has ended by itself.
///
/// A push with a failed Executor stays taken by this host and is tried again after a pause. When the host stops or
/// dies, its taken pushes go back to the queue with its session.
actor PushHost {
    private let queue: PushQueue
    private let logger: Logger
    private let cgroupLimit: CgroupLimit?
    private let show: ExecutorProcess.Hearing
    private let tell: @Sendable (HostEvent) -> Void
    private let wakeMain: @Sendable () async -> Void
    private let slots: ExecutorSlots
    private let stopping = StopSignal()

    private var settings: ExecutorSettings
    private struct Running {
        let callID: CallID
        let process: ExecutorProcess
        /// The latest end of its core's activity; nil if it is not busy.
        var busyUntil: BootInstant?
        /// True while a call is open in the Executor: it then takes no slot.
        var isInCall = false
    }

    private var executors: [Int: Running] = [:]
    private var busyOwner = BusyOwner()
    private var startCount = 0
    /// The pushes that wait for their next attempt, by a number for each.
    private var retries: [Int: HostRecord.Retry] = [:]
    private var retryCount = 0
    private let clock = SystemClock()
    /// True while no Executor is started.
    private(set) var isPaused = false
    /// The error because of which the host must end; nil while there is none.
    private var failure: SharedCoreError?
    private var isWaiting: Waiting?
    /// The store's error that was logged last; nil after a step has succeeded.
    private var toldTrouble: String?
    /// True if an outage of Executors was logged, and no push was handled since.
    private var isOutageLogged = false

    /// Returns true if the message of a push waits to be acknowledged although the Executor of the push has not printed
    /// it.
    typealias Waiting = @Sendable (CallID) async throws(SharedCoreError) -> Bool

    /// The pause before a step that the store has refused is tried again.
    private static let storePause = Duration.seconds(1)

    /// Makes a host that serves nothing yet.
    ///
    /// - Parameters:
    ///   - show: Shows the user the first line of an Executor. When it returns, the Executor may acknowledge the
    ///     message of that line.
    ///   - wakeMain: Called before an Executor is started; returns when no Main rests.
    ///   - tell: Called with each event.
    init(
        _ queue: PushQueue, settings: ExecutorSettings, cgroupLimit: CgroupLimit?, logger: Logger,
        show: @escaping ExecutorProcess.Hearing = { _ in }, wakeMain: @escaping @Sendable () async -> Void = {},
        tell: @escaping @Sendable (HostEvent) -> Void
    ) {
        self.queue = queue
        self.settings = settings
        self.cgroupLimit = cgroupLimit
        self.logger = logger
        self.show = show
        self.tell = tell
        self.wakeMain = wakeMain
        slots = ExecutorSlots(limit: settings.limit)
    }

    /// Serves until it is told to stop.
    ///
    /// - Parameter isWaiting: Called if an Executor reports that no message came; nil if no Maildir is watched.
    /// - Throws: The store's error if this host's session has ended, and the error of ``end(because:)``.
    func run(isWaiting: Waiting? = nil) async throws {
        self.isWaiting = isWaiting
        await withDiscardingTaskGroup { group in
            while !slots.isClosed {
                do throws(SharedCoreError) {
                    try await takePushes(in: &group)
                } catch {
                    await note(error, at: "pushes cannot be taken")
                }
            }
        }
        if let failure { throw failure }
    }

    /// Takes no more pushes, begins no more attempts, and tells the running Executors to end.
    nonisolated func stop() {
        // Close the slots before the signal. The signal ends the pauses before retries, and an attempt that began now
        // would be interrupted and count as a failure.
        slots.close()
        stopping.raise()
        Task { await stopExecutors() }
    }

    /// Stops as ``stop()`` does, and makes ``run(isWaiting:)`` throw an error.
    func end(because error: SharedCoreError) {
        failure = failure ?? error
        stop()
    }

    /// Uses new settings for Executors that start from now on. Running Executors keep their settings.
    func adopt(_ settings: ExecutorSettings) {
        self.settings = settings
        slots.setLimit(settings.limit)
    }

    /// Pauses or resumes the start of Executors. Running Executors continue, and a push in hand waits for its attempt.
    ///
    /// - Returns: Whether that is a change.
    func setPaused(_ isPaused: Bool) -> Bool {
        defer { self.isPaused = isPaused }
        slots.setPaused(isPaused)
        return isPaused != self.isPaused
    }

    /// How much memory an Executor may have.
    var executorMemory: UInt64? { settings.limits.memory }

    /// Returns the state of this host for its record in the group.
    func record(pid: Int32) -> HostRecord {
        var record = HostRecord(pid: pid, settings: settings, isCaged: cgroupLimit != nil)
        record.executors = executors.values.map {
            HostRecord.Executor(callID: $0.callID.text, pid: $0.process.process.pid)
        }
        .sorted { $0.pid < $1.pid }
        record.retrying = retries.count
        record.retries = HostRecord.Retry.next(of: retries.values)
        return record
    }

    /// How the kernel limits the memory of an Executor; nil if it does not.
    private var enclosing: ExecutorProcess.Enclosing? {
        guard let cgroupLimit, let byteCount = settings.limits.memory else { return nil }
        return { cgroupLimit.enclose($0, byteCount: byteCount) }
    }

    private func stopExecutors() {
        for executor in executors.values { executor.process.stop() }
    }

    /// Records the activities of the core's owner.
    ///
    /// The owning Executor has until the last bound in place of its budget. While it has an open call it uses no slot,
    /// so that other Executors can handle new pushes, with messages from its core. A former owner with a moving call
    /// has until the deadline of its baton.
    func note(_ activities: [Activity], of process: ProcessIdentity?, giver: BusyOwner.Giver? = nil) {
        busyOwner.note(activities, of: process, giver: giver)
        for key in executors.keys { grantTime(to: key) }
    }

    private func grantTime(to key: Int) {
        guard let executor = executors[key] else { return }
        let end = busyOwner.latestEnd(of: executor.process.process)
        if end != executor.busyUntil {
            executors[key]?.busyUntil = end
            executor.process.setBusy(until: end)
        }
        setInCall(busyOwner.isInCall(executor.process.process), key)
    }

    private func setInCall(_ isInCall: Bool, _ key: Int) {
        guard let executor = executors[key], executor.isInCall != isInCall else { return }
        executors[key]?.isInCall = isInCall
        if isInCall { slots.giveBack() } else { slots.takeAnyway() }
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
            toldTrouble = nil
            let taken = PushQueue.Taken(delivery: delivery, record: PushRecord(delivery.bytes))
            // Only one push is taken while it waits for a slot. The others stay in the queue, where any host can take
            // them.
            guard await slots.take() else { return }
            group.addTask { await self.serve(taken) }
        }
    }

    /// Handles one push to its end. It has a slot already.
    private func serve(_ taken: PushQueue.Taken) async {
        guard var record = taken.record else {
            slots.giveBack()
            logger.error("a push cannot be read here; it is given up: \(taken.delivery.item)")
            _ = await insist("a push cannot be given up") { () async throws(SharedCoreError) in
                try await self.queue.giveUp(taken.delivery.bytes, taken)
            }
            return
        }
        tell(.taken(callID: record.callID))
        var outages = 0
        while true {
            var end = await runExecutor(for: record.push, attempt: record.failures + 1)
            slots.giveBack()
            if end.isNo { await judgeNo(&end, to: record.push.callID) }
            switch end.verdict {
            case .interrupted: return
            case .served: return await acknowledge(record, taken)
            case .failed: break
            }
            outages = end.isOutage ? outages + 1 : 0
            let pause: Duration
            if end.isOutage {
                pause = settings.retry.delay(after: outages)
                logOutage(end.reason, of: record)
            } else {
                record.failures += 1
                record.lastFailure = end.reason
                guard case .again(let next) = settings.retry.decision(after: record.failures) else {
                    return await giveUp(record, taken)
                }
                pause = next
                let noted = record
                let isOurs = await insist("a failure cannot be written down") { () async throws(SharedCoreError) in
                    try await self.queue.note(noted, for: taken)
                }
                guard isOurs else { return }
            }
            retryCount += 1
            let number = retryCount
            retries[number] = HostRecord.Retry(
                callID: record.callID, at: clock.now().advanced(by: pause).nanoseconds, bootID: "\(clock.bootID)")
            tell(.postponed(callID: record.callID, failures: record.failures, pause: pause, reason: end.reason))
            await stopping.pause(pause)
            retries[number] = nil
            guard await slots.take() else { return }
        }
    }

    /// The outcome of one attempt, and its reason for people.
    private struct Attempt {
        var verdict: ExecutorEnd.Verdict
        var reason: String
        /// True if the push is not the cause of the failure. It is then tried until it works.
        var isOutage: Bool
        /// True if an Executor of this project has reported that it did not get the message.
        var isNo = false
    }

    private func runExecutor(for push: Push, attempt: Int) async -> Attempt {
        let callID = push.callID
        let executor: ExecutorProcess
        // Wake a resting Main before the Executor's time begins, so that the Executor finds the owner that exists after
        // the wake.
        await wakeMain()
        let launch = settings.launch
        do {
            let enclosing = enclosing
            executor = try await ExecutorProcess.start(
                launch.program(for: push, isHeld: enclosing != nil), limits: settings.limits,
                enclosing: enclosing, hear: show)
        } catch {
            return Attempt(verdict: .failed, reason: "its Executor cannot be started: \(error)", isOutage: true)
        }
        let (pid, isOwn) = (executor.process.pid, launch.isOwn)
        // Use a counter as the key: another process may get the same process id before this end is handled.
        startCount += 1
        let key = startCount
        executors[key] = Running(callID: callID, process: executor)
        grantTime(to: key)
        tell(.started(callID: callID.text, pid: pid, attempt: attempt))
        if stopping.isRaised { executor.stop() }
        let end = await executor.end()
        // If the Executor still had an open call, it used no slot. Take one, because the caller gives a slot back.
        setInCall(false, key)
        executors[key] = nil
        tell(.ended(callID: callID.text, pid: pid, end))
        return Attempt(
            verdict: end.verdict, reason: end.description, isOutage: end.isOutage,
            isNo: isOwn && end.verdict == .served && end.status != 0)
    }

    /// Makes the host try a push again if its message waits in the watched Maildir or in the inbox, because no other
    /// push is created for it. While another process owns, such as a Main that runs no core of this Maildir, this does
    /// not count as a failure of the push.
    private func judgeNo(_ end: inout Attempt, to callID: CallID) async {
        guard let isWaiting else { return }
        let answer = Mutex(false)
        let isOwned = Mutex(false)
        let isKnown = await insist("it is not known whether the message of a push waits") {
            () async throws(SharedCoreError) in
            let isStillWaiting = try await isWaiting(callID)
            answer.withLock { $0 = isStillWaiting }
            guard isStillWaiting else { return }
            let hasOwner = try await GroupOwner.current(in: self.queue.group) != nil
            isOwned.withLock { $0 = hasOwner }
        }
        guard isKnown else {
            end.verdict = .interrupted
            return
        }
        guard answer.withLock({ $0 }) else { return }
        end.verdict = .failed
        end.reason = "its message waits, and did not come before the deadline"
        end.isOutage = isOwned.withLock { $0 }
    }

    /// Logs once for all pushes why they wait, until one is served.
    private func logOutage(_ reason: String, of record: PushRecord) {
        guard !isOutageLogged else { return }
        isOutageLogged = true
        logger.warning(
            "the push “\(ValueText.oneLine(record.callID))” waits and is tried again: \(reason); until a push is served, this is not said of others"
        )
    }

    private func acknowledge(_ record: PushRecord, _ taken: PushQueue.Taken) async {
        let isDone = await insist("a push cannot be acknowledged") { () async throws(SharedCoreError) in
            try await self.queue.acknowledge(taken)
        }
        guard isDone else { return }
        isOutageLogged = false
        tell(.served(callID: record.callID, after: queue.age(of: record)))
    }

    private func giveUp(_ record: PushRecord, _ taken: PushQueue.Taken) async {
        let isDone = await insist("a push cannot be given up") { () async throws(SharedCoreError) in
            try await self.queue.giveUp(record.bytes, taken)
        }
        guard isDone else { return }
        logger.error(
            "the push “\(ValueText.oneLine(record.callID))” is given up after \(record.failures) attempts: \(record.lastFailure ?? "")"
        )
        tell(.givenUp(callID: record.callID, failures: record.failures, reason: record.lastFailure ?? ""))
    }

    /// Repeats a step in the store until it succeeds or cannot succeed any more.
    ///
    /// - Returns: True if it succeeded; if not, another process has the push, or it goes back to the queue with the
    ///   session.
    private func insist(_ problem: String, _ step: @Sendable () async throws(SharedCoreError) -> Void) async -> Bool {
        // While the host stops, it waits for a store only for a limited number of attempts.
        var timeout = 5
        while true {
            do throws(SharedCoreError) {
                try await step()
                toldTrouble = nil
                return true
            } catch {
                // Another process has the push by now.
                if error.code == .guardFailed { return false }
                await note(error, at: problem)
                if failure != nil { return false }
                if stopping.isRaised {
                    timeout -= 1
                    guard timeout > 0 else { return false }
                }
            }
        }
    }

    /// Handles an error of the store: waits after a temporary one, and ends this host after any other.
    private func note(_ error: SharedCoreError, at problem: String) async {
        switch error.code {
        case .sessionEnded, .closed, .corrupt, .incompatible, .unsupported, .invalidArgument:
            end(because: error)
        default:
            let sentence = "\(problem): \(error.sentence)"
            if sentence != toldTrouble { logger.warning("\(sentence)") }
            toldTrouble = sentence
            // The stop does not end this pause, because the results of running Executors must still be written.
            try? await Task.sleep(for: Self.storePause)
        }
    }
}
