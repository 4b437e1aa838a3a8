internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// One participant's view of the order that a log keeps: its replica, up to where it has read, and the way to append.
final class LogOrder: Sendable {
    struct Progress {
        /// The position of the next record that the replica does not have.
        var position: UInt64 = 0
        /// Where the log's snapshot stands, as far as is known here.
        var start: UInt64 = 0
        /// The bytes of the records behind the snapshot.
        var byteCount = 0
        /// The run of the machine that the group is in; nil before its first record.
        var bootID: BootID?
        /// Why the handle cannot go on.
        var failure: SharedCoreError?
        /// Not to compact before there are so many bytes behind the snapshot.
        var leastCompaction = 0
        var compaction: Task<Void, Never>?
        /// What waits for the ends of the others' processes.
        var awaited: [SessionID: UInt64] = [:]
    }

    /// How many records are read at once.
    static let readLimit = 256
    /// The bytes behind a snapshot at which even a small one is replaced.
    private static let compactionByteCount = 1 << 20

    let log: any SharedLog
    let options: LogGroupOptions
    let replica: Replica
    /// Guards the replica's changes as well. Nothing waits under it.
    let progress = Mutex(Progress())
    private let line = CallLine()
    private let timer = ExpiryTimer()

    init(_ log: any SharedLog, options: LogGroupOptions) {
        self.log = log
        self.options = options
        replica = Replica(StoreState(limits: options.limits, historyByteCount: options.historyByteCount))
    }

    // MARK: - Reading

    /// - Throws: Why the handle cannot go on.
    func check() throws(SharedCoreError) {
        if let failure = progress.withLock(\.failure) { throw failure }
    }

    /// Brings the replica up to date: every append that had returned anywhere before the call is reflected.
    ///
    /// - Returns: Whether there was anything new.
    @discardableResult
    func catchUp() async throws(SharedCoreError) -> Bool {
        var hasNews = false
        while true {
            try check()
            let position = progress.withLock(\.position)
            let slice = try await reading { () throws(SharedCoreError) in
                try await self.log.read(from: position, limit: Self.readLimit)
            }
            if try take(slice, from: position) { hasNews = true }
            if slice.records.count < Self.readLimit { return hasNews }
        }
    }

    /// As ``catchUp()``, and nothing stands in the replica whose time is over.
    func refresh() async throws(SharedCoreError) {
        try await catchUp()
        let now = options.clock.now()
        guard isInOwnRun, replica.read({ state in state.nextExpiry().map { $0 <= now } ?? false }) else { return }
        _ = try await record(.expire)
    }

    /// Waits until there may be a record at a position.
    func waiting(after position: UInt64) async throws(SharedCoreError) {
        try await reading { () throws(SharedCoreError) in try await self.log.wait(after: position) }
    }

    /// Calls the log, and ends the handle by an error that lasts.
    private func reading<Value: Sendable>(
        _ call: () async throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        do throws(SharedCoreError) { return try await call() } catch {
            fail(with: error)
            throw error
        }
    }

    /// Ends the handle, if the error is one of those that last.
    private func fail(with error: SharedCoreError) {
        guard [.corrupt, .incompatible, .sessionEnded].contains(error.code) else { return }
        let isFirst = progress.withLock { progress in
            defer { progress.failure = progress.failure ?? error }
            return progress.failure == nil
        }
        if isFirst { replica.fail(with: error) }
    }

    /// Takes what was read from a position on.
    ///
    /// - Returns: Whether there was anything new.
    private func take(_ slice: LogSlice, from asked: UInt64) throws(SharedCoreError) -> Bool {
        do throws(SharedCoreError) {
            guard slice.snapshot != nil || slice.start <= asked else {
                throw LogRecord.damaged("The log begins at \(slice.start) and gives no snapshot for position \(asked).")
            }
            var snapshot: (StoreState, BootID)?
            if let parts = slice.snapshot {
                snapshot = try LogRecord.state(
                    of: parts, limits: options.limits, historyByteCount: options.historyByteCount)
            }
            var effects: [Effect] = []
            for record in slice.records { effects.append(try LogRecord(record).effect) }
            return try apply(
                effects, ofByteCount: slice.records.reduce(0) { $0 + $1.count },
                from: slice.snapshot == nil ? asked : slice.start, behind: snapshot, start: slice.start)
        } catch {
            fail(with: error)
            throw error
        }
    }

    /// Applies effects that stand at a position and behind it, those of them that the replica does not have yet.
    private func apply(
        _ effects: [Effect], ofByteCount byteCount: Int, from position: UInt64,
        behind snapshot: (state: StoreState, bootID: BootID)? = nil, start: UInt64 = 0
    ) throws(SharedCoreError) -> Bool {
        defer { replica.wake() }
        let hasNews = try progress.withLock { progress throws(SharedCoreError) in
            try self.replica.change { state throws(SharedCoreError) in
                let before = progress.position
                if start > progress.start {
                    (progress.start, progress.byteCount, progress.leastCompaction) = (start, 0, 0)
                }
                if let snapshot, position > progress.position {
                    guard snapshot.state.revision >= state.revision else {
                        throw LogRecord.damaged("The snapshot at \(position) is older than the records before it.")
                    }
                    var present = snapshot.state
                    present.keepHistory(of: state)
                    (state, progress.position, progress.bootID) = (present, position, snapshot.bootID)
                }
                for (number, effect) in effects.enumerated() where position + UInt64(number) == progress.position {
                    try state.requireNext(effect, in: progress.bootID)
                    state.apply(effect)
                    if case .restarted(let bootID) = effect.body { progress.bootID = bootID }
                    progress.position += 1
                }
                if progress.position > before { progress.byteCount += byteCount }
                return progress.position > before
            }
        }
        if hasNews {
            scheduleExpiry()
            if snapshot != nil || effects.contains(where: \.changesSessions) { awaitEnds() }
        }
        return hasNews
    }

    // MARK: - Writing

    /// Gets a request its place in the order.
    func record(_ request: OrderRequest) async throws(SharedCoreError) -> RequestOutcome {
        try await line.enter()
        defer { line.leave() }
        // An append at the log's end proves that the replica was current. Any other answer needs a read first.
        var isCurrent = false
        while true {
            try check()
            let step: StoreState.Step
            let position: UInt64
            do throws(SharedCoreError) {
                (step, position) = try judge(request)
            } catch {
                if isCurrent { throw error }
                try await catchUp()
                isCurrent = true
                continue
            }
            switch step {
            case .answer(let outcome):
                if isCurrent { return outcome }
                try await catchUp()
                isCurrent = true
            case .expireFirst(let effect):
                isCurrent = try await append(effect, at: position) || isCurrent
            case .record(let effect, let outcome):
                if try await append(effect, at: position) { return outcome }
            }
        }
    }

    /// As ``record(_:)``, also when the task is cancelled.
    func recordThoughCancelled(_ request: OrderRequest) async throws(SharedCoreError) -> RequestOutcome {
        try await Task { () async -> Result<RequestOutcome, SharedCoreError> in
            do throws(SharedCoreError) { return .success(try await self.record(request)) } catch {
                return .failure(error)
            }
        }.value.get()
    }

    private func judge(_ request: OrderRequest) throws(SharedCoreError) -> (StoreState.Step, UInt64) {
        let now = options.clock.now()
        return try progress.withLock { progress throws(SharedCoreError) in
            if let bootID = progress.bootID, bootID != self.options.clock.bootID {
                // All sessions of the run before have ended, and this clock is not that of the present one.
                switch request {
                case .commit(_, let session, _), .end(let session): throw .sessionEnded(session)
                case .join, .expire: throw .otherRun(bootID, own: self.options.clock.bootID)
                }
            }
            return (
                try self.replica.change { state throws(SharedCoreError) in try state.next(for: request, at: now) },
                progress.position
            )
        }
    }

    /// Appends an effect and applies it. A cancellation does not interrupt it: the caller learns what became of it.
    ///
    /// - Returns: False when others were first, whose records are applied then.
    func append(_ effect: Effect, at position: UInt64) async throws(SharedCoreError) -> Bool {
        guard !Task.isCancelled else { throw .cancelled("commit") }
        let nonce = UInt64.random(in: .min ... .max)
        let record = try LogRecord.bytes(of: effect, nonce: nonce)
        let isAppended = try await Task { () async -> Result<Bool, SharedCoreError> in
            do throws(SharedCoreError) {
                return .success(try await self.appendOnce(record, nonce: nonce, at: position))
            } catch {
                return .failure(error)
            }
        }.value.get()
        guard isAppended else { return false }
        _ = try apply([effect], ofByteCount: record.count, from: position)
        compactIfNeeded()
        return true
    }

    /// Appends a record, and finds out whether it was where the log does not say. A record that stands at its position is not
    /// appended there again, so trying once more is safe.
    private func appendOnce(
        _ record: [UInt8], nonce: UInt64, at position: UInt64
    ) async throws(SharedCoreError) -> Bool {
        var isRetry = false
        while true {
            var doubt: SharedCoreError?
            do throws(SharedCoreError) {
                if try await log.append(record, at: position) { return true }
            } catch {
                fail(with: error)
                guard [.outcomeUnknown, .unavailable, .system].contains(error.code) else { throw error }
                doubt = error
            }
            let slice: LogSlice
            do throws(SharedCoreError) {
                slice = try await log.read(from: position, limit: Self.readLimit)
            } catch {
                fail(with: error)
                throw doubt.map { .unknownOutcome($0) } ?? error
            }
            _ = try take(slice, from: position)
            if let doubt, slice.snapshot != nil { throw .unknownOutcome(doubt) }
            if slice.snapshot == nil, let first = slice.records.first { return try LogRecord(first).nonce == nonce }
            guard let doubt else { return false }
            // Nothing stands there, and the first try may still be on its way.
            guard !isRetry else { throw .unknownOutcome(doubt) }
            isRetry = true
        }
    }

    // MARK: - Compaction

    /// Replaces the records by a snapshot when they are many more bytes than it would have.
    private func compactIfNeeded() {
        let size = replica.read { $0.snapshotByteCount }
        progress.withLock { progress in
            let least = max(Self.compactionByteCount, 2 * size, progress.leastCompaction)
            guard progress.compaction == nil, progress.byteCount > least else { return }
            progress.compaction = Task { [self] in
                await compact()
                self.progress.withLock { $0.compaction = nil }
            }
        }
    }

    private func compact() async {
        let (state, position, byteCount, bootID) = progress.withLock { progress in
            (replica.read { $0 }, progress.position, progress.byteCount, progress.bootID)
        }
        guard let bootID else { return }
        do throws(SharedCoreError) {
            try await log.compact(try LogRecord.snapshot(of: state, in: bootID), before: position)
            progress.withLock { progress in
                guard position > progress.start else { return }
                (progress.start, progress.leastCompaction) = (position, 0)
                progress.byteCount -= byteCount
            }
        } catch {
            // The records serve as well; not tried again with each of them.
            progress.withLock { $0.leastCompaction = $0.byteCount + Self.compactionByteCount }
        }
    }

    // MARK: - Time

    private var isInOwnRun: Bool { progress.withLock { $0.bootID == options.clock.bootID } }

    private func scheduleExpiry() {
        guard isInOwnRun, let due = replica.read({ $0.nextExpiry() }) else { return }
        timer.set(to: due, by: options.clock) { [weak self] in await self?.expireInTime() }
    }

    private func expireInTime() async {
        // A log that is away: a reader tries again, and so does the timer.
        if (try? await record(.expire)) == nil { try? await Task.sleep(for: .milliseconds(250)) }
        if progress.withLock({ $0.failure == nil }) { scheduleExpiry() }
    }

    /// Stops everything that goes on by itself, and waits for a compaction.
    func close() async {
        timer.end()
        let (awaited, compaction) = progress.withLock { progress in
            progress.failure = progress.failure ?? .closed("log")
            return (progress.awaited.values.map { $0 }, progress.compaction)
        }
        if !awaited.isEmpty, let ends = try? ProcessEnds.shared() { for key in awaited { ends.forget(key) } }
        await compaction?.value
        await log.close()
    }
}

extension StoreState {
    /// Refuses an effect that is not the next one of this order: a record is not trusted.
    fileprivate func requireNext(_ effect: Effect, in bootID: BootID?) throws(SharedCoreError) {
        var next = nextRevision
        let isKnown: Bool
        switch effect.body {
        case .restarted(let bootID):
            next = restarting(in: bootID, at: effect.time).revision
            isKnown = true
        case .sessionOpened(let opening): isKnown = opening.process.bootID == bootID
        case .committed(let session, _, _), .refused(let session, _, _), .sessionEnded(let session):
            isKnown = hasSession(session)
        case .expired(let keys): isKnown = bootID != nil && keys.allSatisfy { entry($0)?.expiry != nil }
        }
        guard effect.revision == next, isKnown else {
            throw LogRecord.damaged(
                "A record has revision \(effect.revision) and is not one that can follow revision \(revision).")
        }
    }
}

extension Effect {
    fileprivate var changesSessions: Bool {
        switch body {
        case .sessionOpened, .sessionEnded, .restarted: true
        case .committed, .refused, .expired: false
        }
    }
}

extension SharedCoreError {
    /// The error of a commit of which it cannot be found out whether it was recorded.
    fileprivate static func unknownOutcome(_ cause: SharedCoreError) -> SharedCoreError {
        SharedCoreError(
            .outcomeUnknown, "The log did not answer an append, and does not tell whether the record is there.",
            at: cause.location, cause: cause.cause ?? cause.message)
    }

    /// The error of a participant whose machine is in another run than those that have the group open.
    static func otherRun(_ found: BootID, own: BootID) -> SharedCoreError {
        SharedCoreError(
            .incompatible,
            "Participants with the boot id \(found) have the group open; this one has \(own). Give all of them one boot id.",
            at: "log")
    }
}
