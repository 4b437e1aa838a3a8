internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Serves the requests that found the lock taken. One thread retries for all of them, and continues in a new journal if
/// the writer with the lock is frozen.
extension LocalGroup {
    /// The maximum number of requests that are written under one lock, so that other processes get their turn.
    private static let batchCount = 64

    func enqueue(_ request: OrderRequest, as durability: Durability) async throws(SharedCoreError) -> Written {
        let withdrawal = Mutex(Withdrawal.possible)
        let answer: WriteRequest.Answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = WriteRequest(request, as: durability) { continuation.resume(returning: $0) }
                let isCancelled = withdrawal.withLock { withdrawal in
                    if case .asked = withdrawal { return true }
                    withdrawal = .of(request)
                    return false
                }
                guard !isCancelled else { return request.finish(with: .failure(.cancelled("commit"))) }
                if queue.add(request) { serveQueue() }
                // The task was cancelled before the request was in the queue, so the cancellation handler did not find
                // the request.
                if case .asked = withdrawal.withLock({ $0 }), queue.withdraw(request) {
                    request.finish(with: .failure(.cancelled("commit")))
                }
            }
        } onCancel: {
            let request = withdrawal.withLock { withdrawal in
                defer { withdrawal = .asked }
                if case .of(let request) = withdrawal { return WriteRequest?.some(request) }
                return nil
            }
            if let request, queue.withdraw(request) { request.finish(with: .failure(.cancelled("commit"))) }
        }
        return try answer.get()
    }

    private enum Withdrawal {
        case possible
        case of(WriteRequest)
        case asked
    }

    /// Starts the thread that serves the queue.
    func serveQueue() {
        do throws(SystemCallError) {
            try OwnedThread.start("sc-commit") { [self] in serve() }
        } catch {
            // The system has no thread left, so the waiting requests fail.
            repeat {
                while let request = queue.takeFirst() { request.finish(with: .failure(SharedCoreError(error))) }
            } while !queue.endService()
        }
    }

    /// The outcome of serving the queue once.
    private enum Service {
        case done
        /// The lock was taken, or the order has moved.
        case busy
        /// There is no space for a request now.
        case noRoom(NoSpace, for: WriteRequest)
    }

    /// The limits on trying one request again for which there is no space.
    private struct SpaceRetries {
        /// The number of waits for another process that has the spare file.
        var waits = 0
        /// The number of attempts to free space that another process may have prevented.
        var attempts = 0
        /// The number of compactions that freed no space. Other processes may take the space that the first one freed.
        var compactions = 0

        /// The time of one wait.
        static let pause = Duration.milliseconds(5)

        /// Returns true if a request that has no space has waited long enough. Content waits 200 ms for the spare file,
        /// so that a process that was stopped with that file locked delays no request beyond the limit of contract S15.
        /// Only one compaction is tried for content, because other requests wait behind it.
        func isOver(for room: NoSpace) -> Bool {
            if room.isSpareInUse { return waits >= (room.isContent ? 40 : 200) }
            return room.isContent ? attempts >= 1 : attempts >= 20 || compactions >= 2
        }
    }

    private func serve() {
        var lockTimeout = LockTimeout()
        var spaceRetries = SpaceRetries()
        /// The request that it is for.
        weak var waiting: WriteRequest?
        while true {
            if queue.endService() { return }
            do throws(SharedCoreError) {
                switch try serveOnce() {
                case .done:
                    lockTimeout.reset()
                    spaceRetries = SpaceRetries()
                case .busy:
                    try overtake(&lockTimeout)
                case .noRoom(let room, let request):
                    if request !== waiting { spaceRetries = SpaceRetries() }
                    waiting = request
                    if spaceRetries.isOver(for: room) {
                        if queue.withdraw(request) { request.finish(with: .failure(room.error)) }
                    } else if room.isSpareInUse {
                        FailPoint.hit("commit.awaitsSpare")
                        spaceRetries.waits += 1
                        OwnedThread.sleep(for: SpaceRetries.pause)
                    } else if room.isContent {
                        spaceRetries.attempts += 1
                        takeSpaceOfFormerJournals()
                    } else {
                        spaceRetries.attempts += 1
                        let isMade = !Defect.withoutRoom.isPresent && makeRoomOnFullDisk()
                        if isMade { spaceRetries.compactions += 1 } else { OwnedThread.sleep(for: SpaceRetries.pause) }
                    }
                }
            } catch {
                // A fault of the group, not of a request: all waiting requests fail.
                while let request = queue.takeFirst() { request.finish(with: .failure(error)) }
            }
        }
    }

    /// Takes the space left by a process that ended right after its compaction, without another compaction.
    private func takeSpaceOfFormerJournals() {
        guard (try? finishCompaction()) == false else { return }
        directory.removeObsolete()
        keepSpareSpace()
    }

    /// Frees space on a full disk: finishes a compaction that is under way, or else compacts the journal.
    ///
    /// - Returns: Whether this call has finished a compaction.
    private func makeRoomOnFullDisk() -> Bool {
        if (try? finishCompaction()) == true { return true }
        return (try? compact()) == true
    }

    /// Writes the waiting requests, under one lock.
    private func serveOnce() throws(SharedCoreError) -> Service {
        var signaled = WakeChannels()
        var locked: Journal?
        var answers: [(WriteRequest, WriteRequest.Answer)] = []
        let service = try withLock { journal throws(SharedCoreError) -> Service in
            locked = journal
            while answers.count < Self.batchCount, let request = self.queue.takeFirst() {
                let isLate = request.passedOverCount.load(ordering: .relaxed) >= SignOfLife.passedOverLimit
                let sign = isLate && !Defect.silentWriter.isPresent ? SignOfLife(in: journal) : nil
                defer { sign?.end() }
                if isLate { FailPoint.hit("commit.isLate") }
                do throws(SharedCoreError) {
                    switch try self.record(request.request, as: request.durability, in: journal, signaling: &signaled) {
                    case .written(let written):
                        answers.append((request, .success(written)))
                    case .moved:
                        self.queue.putBack(request)
                        return .busy
                    case .passedOver:
                        request.passedOverCount.add(1, ordering: .relaxed)
                        self.queue.putBack(request)
                        return .busy
                    case .noRoom(let room):
                        self.queue.putBack(request)
                        return .noRoom(room, for: request)
                    }
                } catch {
                    answers.append((request, .failure(error)))
                }
            }
            return .done
        }
        announce(signaled, in: locked)
        for (request, answer) in answers { request.finish(with: answer) }
        if !answers.isEmpty { compactWhenLong() }
        return service ?? .busy
    }
}

/// Shows processes that wait for the journal's lock that its holder runs, so that they wait on. Without it, a slow
/// transaction could never complete while other processes write all the time: each would take its holder for frozen.
/// SIGSTOP stops all threads of a process, so a stopped holder shows no sign of life.
///
/// Source: contract S15.
private final class SignOfLife: Sendable {
    /// After other writers have passed over a request this often, this process shows signs of life while it records the
    /// request.
    static let passedOverLimit = 3
    /// The interval of the ticks, several per timeout of the others.
    private static let interval = Duration.milliseconds(20)
    /// The longest time that others wait.
    private static let limit = Duration.seconds(10)

    private let isOver = Atomic(false)

    /// Starts the ticks; if no thread can be started, the request is passed over once more.
    init(in journal: Journal) {
        let clock = SystemClock()
        let end = clock.now().advanced(by: Self.limit)
        try? OwnedThread.start("sc-alive") { [self] in
            while !isOver.load(ordering: .acquiring), clock.now() < end {
                journal.tick()
                OwnedThread.sleep(for: Self.interval)
            }
        }
    }

    func end() { isOver.store(true, ordering: .releasing) }
}
