internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// One participant's view of the order that a log keeps: its replica, up to where it has read, and the way to append.
final class LogOrder: Sendable {
    struct Progress {
        /// Where the replica stands.
        var place = LogPlace(position: 0)
        /// Where the log's snapshot stands, as far as is known here.
        var start: UInt64 = 0
        /// The bytes of the records behind the snapshot.
        var byteCount = 0
        /// Why the handle cannot go on.
        var failure: SharedCoreError?
        /// Not to compact before there are so many bytes behind the snapshot.
        var leastCompaction = 0
        var compaction: Task<Void, Never>?
        /// How often sessions were opened or ended.
        var sessionChanges = 0
    }

    /// What became of an append.
    enum AppendResult {
        case appended
        /// Others were first. Their records are applied.
        case overtaken
        /// The log took no record, and shows none.
        case refused
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
            let position = progress.withLock(\.place.position)
            let slice = try await read(from: position, limit: Self.readLimit)
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
    func wait(after position: UInt64) async throws(SharedCoreError) {
        do throws(SharedCoreError) { try await log.wait(after: position) } catch { throw fail(with: error) }
    }

    private func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        do throws(SharedCoreError) { return try await log.read(from: position, limit: limit) } catch {
            throw fail(with: error)
        }
    }

    /// Ends the handle, if the error is one of those that last.
    ///
    /// - Returns: The error.
    private func fail(with error: SharedCoreError) -> SharedCoreError {
        guard [.corrupt, .incompatible, .sessionEnded].contains(error.code) else { return error }
        let isFirst = progress.withLock { progress in
            defer { progress.failure = progress.failure ?? error }
            return progress.failure == nil
        }
        if isFirst { replica.fail(with: error) }
        return error
    }

    /// Takes what was read from a position on.
    ///
    /// - Returns: Whether there was anything new.
    private func take(_ slice: LogSlice, from asked: UInt64) throws(SharedCoreError) -> Bool {
        do throws(SharedCoreError) {
            guard slice.snapshot != nil || slice.start <= asked else {
                throw LogRecord.damaged("The log begins at \(slice.start) and gives no snapshot for position \(asked).")
            }
            var snapshot: (StoreState, LogPlace)?
            if let parts = slice.snapshot {
                snapshot = try LogRecord.state(
                    of: parts, at: slice.start, limits: options.limits, historyByteCount: options.historyByteCount)
            }
            var records: [LogRecord] = []
            for bytes in slice.records { records.append(try LogRecord(bytes)) }
            return try apply(
                records, from: snapshot == nil ? asked : slice.start, behind: snapshot, start: slice.start)
        } catch {
            throw fail(with: error)
        }
    }

    /// Applies records that stand at a position and behind it, those of them that the replica does not have yet.
    private func apply(
        _ records: [LogRecord], from position: UInt64, behind snapshot: (state: StoreState, place: LogPlace)? = nil,
        start: UInt64 = 0
    ) throws(SharedCoreError) -> Bool {
        defer { replica.wake() }
        let hasNews = try progress.withLock { progress throws(SharedCoreError) in
            try self.replica.change { state throws(SharedCoreError) in
                let before = progress.place.position
                if start > progress.start {
                    (progress.start, progress.byteCount, progress.leastCompaction) = (start, 0, 0)
                }
                if let snapshot, position > before {
                    guard snapshot.state.revision >= state.revision else {
                        throw LogRecord.damaged("The snapshot at \(position) is older than the records before it.")
                    }
                    var present = snapshot.state
                    present.keepHistory(of: state)
                    (state, progress.place) = (present, snapshot.place)
                    progress.sessionChanges += 1
                }
                for (number, record) in records.enumerated()
                where position + UInt64(number) == progress.place.position {
                    try state.requireNext(record, at: progress.place)
                    state.apply(record.effect)
                    progress.place.take(record)
                    progress.byteCount += record.byteCount
                    if record.effect.changesSessions { progress.sessionChanges += 1 }
                }
                return progress.place.position > before
            }
        }
        if hasNews { scheduleExpiry() }
        return hasNews
    }

    // MARK: - Writing

    /// Gets a request its place in the order.
    func record(_ request: OrderRequest) async throws(SharedCoreError) -> RequestOutcome {
        try await line.enter()
        defer { line.leave() }
        // An append at the log's end proves that the replica was current. Any other answer needs a read first.
        var isCurrent = false
        var delay = RetryDelay()
        while true {
            try check()
            let (effect, outcome, place): (Effect, RequestOutcome?, LogPlace)
            do throws(SharedCoreError) {
                let step: StoreState.Step
                (step, place) = try next(for: request)
                switch step {
                case .expireFirst(let expiry): (effect, outcome) = (expiry, nil)
                case .record(let body, let result): (effect, outcome) = (body, result)
                case .answer(let result):
                    if isCurrent { return result }
                    try await catchUp()
                    isCurrent = true
                    continue
                }
            } catch {
                if isCurrent { throw error }
                try await catchUp()
                isCurrent = true
                continue
            }
            switch try await append(effect, at: place) {
            case .appended:
                if let outcome { return outcome }
                isCurrent = true
            case .overtaken: delay = RetryDelay()
            case .refused: try await Self.pause(delay.next())
            }
        }
    }

    /// The next step of a request, and the place for which it is judged.
    private func next(for request: OrderRequest) throws(SharedCoreError) -> (StoreState.Step, LogPlace) {
        let now = options.clock.now()
        return try progress.withLock { progress throws(SharedCoreError) in
            if let bootID = progress.place.bootID, bootID != self.options.clock.bootID {
                // All sessions of the run before have ended, and this clock is not that of the present one.
                switch request {
                case .commit(_, let session, _), .end(let session): throw .sessionEnded(session)
                case .join, .expire: throw .otherRun(bootID, own: self.options.clock.bootID)
                }
            }
            return (
                try self.replica.change { state throws(SharedCoreError) in try state.next(for: request, at: now) },
                progress.place
            )
        }
    }

    /// Appends an effect and applies it. A cancellation does not interrupt it: the caller learns what became of it.
    func append(_ effect: Effect, at place: LogPlace) async throws(SharedCoreError) -> AppendResult {
        guard !Task.isCancelled else { throw .cancelled("commit") }
        let (record, bytes) = try LogRecord.make(of: effect, at: place)
        let result = try await Self.uncancelled { () throws(SharedCoreError) in
            try await self.append(bytes, of: record, at: place)
        }
        guard case .appended = result else { return result }
        _ = try apply([record], from: place.position)
        compactIfNeeded()
        return .appended
    }

    /// Appends a record, and finds out whether it was where the log does not say. A record that stands at its position is not
    /// appended there again, so trying once more is safe.
    private func append(
        _ bytes: [UInt8], of record: LogRecord, at place: LogPlace
    ) async throws(SharedCoreError) -> AppendResult {
        var isRetry = false
        while true {
            var doubt: SharedCoreError?
            do throws(SharedCoreError) {
                if try await log.append(bytes, at: place.position) { return .appended }
            } catch {
                guard [.outcomeUnknown, .unavailable, .system].contains(error.code) else { throw fail(with: error) }
                doubt = error
            }
            let slice: LogSlice
            do throws(SharedCoreError) {
                slice = try await read(from: place.position, limit: Self.readLimit)
            } catch {
                throw doubt.map { .unknownOutcome($0) } ?? error
            }
            _ = try take(slice, from: place.position)
            if slice.snapshot != nil {
                if let doubt { throw .unknownOutcome(doubt) }
                return .overtaken
            }
            if let first = slice.records.first {
                return try LogRecord(first).nonce == record.nonce ? .appended : .overtaken
            }
            guard let doubt else {
                try await requireTail(of: place)
                return .refused
            }
            // Nothing stands there, and the first try may still be on its way.
            guard !isRetry else { throw .unknownOutcome(doubt) }
            isRetry = true
        }
    }

    /// Makes sure that the last record that was applied stands in the log, which takes no further one: it may have lost some.
    private func requireTail(of place: LogPlace) async throws(SharedCoreError) {
        guard place.position > 0 else { return }
        let slice = try await read(from: place.position - 1, limit: 1)
        if slice.snapshot != nil, slice.start >= place.position { return }
        if let last = slice.records.first, try LogRecord(last).nonce == place.tail { return }
        throw fail(with: LogRecord.damaged("The log has lost the record at \(place.position - 1), which it had given."))
    }

    /// Does something to its end, also when the task is cancelled.
    static func uncancelled<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        try await Task { () async -> Result<Value, SharedCoreError> in
            do throws(SharedCoreError) { return .success(try await body()) } catch { return .failure(error) }
        }.value.get()
    }

    /// - Throws: `cancelled`, as soon as the task is.
    static func pause(_ duration: Duration) async throws(SharedCoreError) {
        let clock = SystemClock()
        do { try await clock.sleep(until: clock.now().advanced(by: duration)) } catch { throw .cancelled("log") }
    }

    // MARK: - Compaction

    /// Replaces the records by a snapshot when they are many more bytes than it would have.
    private func compactIfNeeded() {
        let size = replica.read { $0.snapshotByteCount }
        progress.withLock { progress in
            let least = max(Self.compactionByteCount, 2 * size, progress.leastCompaction)
            guard progress.compaction == nil, progress.failure == nil, progress.byteCount > least else { return }
            progress.compaction = Task { [self] in
                await compact()
                self.progress.withLock { $0.compaction = nil }
            }
        }
    }

    private func compact() async {
        let (state, place, byteCount) = progress.withLock { progress in
            (replica.read { $0 }, progress.place, progress.byteCount)
        }
        do throws(SharedCoreError) {
            try await log.compact(try LogRecord.snapshot(of: state, at: place), before: place.position)
            progress.withLock { progress in
                guard place.position > progress.start else { return }
                (progress.start, progress.leastCompaction) = (place.position, 0)
                progress.byteCount -= byteCount
            }
        } catch {
            // The records serve as well; not tried again with each of them.
            progress.withLock { $0.leastCompaction = $0.byteCount + Self.compactionByteCount }
        }
    }

    // MARK: - Time

    private var isInOwnRun: Bool { progress.withLock { $0.place.bootID == options.clock.bootID } }

    private func scheduleExpiry() {
        guard isInOwnRun, let due = replica.read({ $0.nextExpiry() }) else { return }
        timer.set(to: due, by: options.clock) { [weak self] () async throws(SharedCoreError) -> BootInstant? in
            _ = try await self?.record(.expire)
            return self?.replica.read { $0.nextExpiry() }
        }
    }

    /// Stops everything that goes on by itself. Calls on their way end as `closed`.
    func close() async {
        timer.end()
        let compaction = progress.withLock { progress in
            progress.failure = progress.failure ?? .closed(options.backend)
            return progress.compaction
        }
        compaction?.cancel()
        await compaction?.value
        await log.close()
    }
}

extension LogPlace {
    /// The place behind a record.
    fileprivate mutating func take(_ record: LogRecord) {
        position += 1
        tail = record.nonce
        if case .restarted(let bootID) = record.effect.body { self.bootID = bootID }
    }
}

extension StoreState {
    /// Refuses a record that is not the next one of this order, or that a participant did not judge by the rules: a log is
    /// not trusted, and a stale effect is not applied.
    fileprivate mutating func requireNext(_ record: LogRecord, at place: LogPlace) throws(SharedCoreError) {
        let effect = record.effect
        guard record.previous == place.tail else {
            throw LogRecord.damaged(
                "The record at \(place.position) does not follow the one before it: the log has left records out, repeated, "
                    + "lost or replaced them.")
        }
        var next = nextRevision
        var isValid: Bool
        switch effect.body {
        case .restarted(let bootID):
            next = restarting(in: bootID, at: effect.time).revision
            isValid = bootID != place.bootID
        case .sessionOpened(let opening): isValid = opening.process.bootID == place.bootID
        case .committed(let session, _, _), .refused(let session, _, _), .sessionEnded(let session):
            isValid = hasSession(session)
        case .expired(let keys):
            isValid = keys.allSatisfy { key in entry(key)?.expiry.map { $0 <= effect.time } ?? false }
        }
        // What is due is recorded before anything else is judged.
        switch effect.body {
        case .restarted, .expired: break
        default: if let due = nextExpiry(), due <= effect.time { isValid = false }
        }
        guard effect.revision == next, isValid else {
            throw LogRecord.damaged(
                "The record at \(place.position) has revision \(effect.revision) and cannot follow revision \(revision)."
            )
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
