internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// One participant's view of the order that a log keeps: its replica up to the last read record, and the appending of
/// records.
final class LogOrder: Sendable {
    struct Progress {
        /// The position of the replica.
        var place = LogPlace(position: 0)
        /// The position of the log's snapshot, as far as is known here.
        var start: UInt64 = 0
        /// The size of the records after the snapshot.
        var byteCount = 0
        /// The reason why the handle cannot go on.
        var failure: SharedCoreError?
        /// No compaction begins while ``byteCount`` is below this number.
        var leastCompaction = 0
        var compaction: Task<Void, Never>?
        /// Counts the openings and ends of sessions.
        var sessionChanges = 0
        /// Proves that the participant's session is this process's.
        var socket: SessionSocket?
    }

    /// The number of records that are read at once.
    static let readLimit = 256
    let log: any SharedLog
    let options: LogGroupOptions
    let replica: Replica
    /// Also guards the replica's changes. No code waits while it holds the lock.
    let progress = Mutex(Progress())
    private let line = CallQueue()
    private let timer = ExpiryTimer()

    init(_ log: any SharedLog, options: LogGroupOptions) {
        self.log = log
        self.options = options
        replica = Replica(StoreState(limits: options.limits, historyByteCount: options.historyByteCount))
    }

    // MARK: - Reading

    /// Checks that the handle can continue.
    ///
    /// - Throws: The reason why it cannot.
    func check() throws(SharedCoreError) {
        if let failure = progress.withLock(\.failure) { throw failure }
    }

    /// Brings the replica up to date: it then includes every append that had returned in any process before the call.
    ///
    /// - Returns: True if there were new records.
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

    /// Applies the records from a position on that the log has received without a read.
    ///
    /// - Returns: Whether there was anything new.
    func takeReceived(from position: UInt64) async throws(SharedCoreError) -> Bool {
        let records = await log.received(from: position)
        guard !records.isEmpty else { return false }
        return try take(LogSlice(start: 0, records: records), from: position)
    }

    /// Catches up as ``catchUp()`` does, and records the end of expired entries.
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

    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        do throws(SharedCoreError) { return try await log.read(from: position, limit: limit) } catch {
            throw fail(with: error)
        }
    }

    /// Ends the handle, if the error is permanent.
    ///
    /// - Returns: The error.
    func fail(with error: SharedCoreError) -> SharedCoreError {
        guard [.corrupt, .incompatible, .sessionEnded].contains(error.code) else { return error }
        let isFirst = progress.withLock { progress in
            defer { progress.failure = progress.failure ?? error }
            return progress.failure == nil
        }
        if isFirst { replica.fail(with: error) }
        return error
    }

    /// Applies the records that were read from a position on.
    ///
    /// - Returns: Whether there was anything new.
    func take(_ slice: LogSlice, from asked: UInt64) throws(SharedCoreError) -> Bool {
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

    /// Applies the records at and after a position that the replica does not have yet.
    func apply(
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

    /// Evaluates a request, and appends its effect at the end of the log.
    func record(_ request: OrderRequest) async throws(SharedCoreError) -> RequestOutcome {
        try await line.enter()
        defer { line.leave() }
        // An append at the log's end proves that the replica was current. Any other answer needs a read first.
        var isCurrent = false
        var refusals = Refusals()
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
            case .overtaken: refusals = Refusals()
            case .refused: try await refusals.pause(at: options.backend)
            }
        }
    }

    /// Returns the next step of a request, and the place in the log for which it was evaluated.
    private func next(for request: OrderRequest) throws(SharedCoreError) -> (StoreState.Step, LogPlace) {
        let now = options.clock.now()
        return try progress.withLock { progress throws(SharedCoreError) in
            if let bootID = progress.place.bootID, bootID != self.options.clock.bootID {
                // The log belongs to another boot than this participant's clock: the sessions of this participant's
                // boot have ended, and its clock cannot measure the lifetimes.
                switch request {
                case .commit(_, let session, _, _), .end(let session): throw .sessionEnded(session)
                case .join, .expire: throw .otherRun(bootID, own: self.options.clock.bootID)
                }
            }
            return (
                try self.replica.change { state throws(SharedCoreError) in try state.next(for: request, at: now) },
                progress.place
            )
        }
    }

    /// Runs `body` to its end in a task that is not cancelled with the caller's.
    static func uncancelled<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        try await Task { () async -> Result<Value, SharedCoreError> in
            do throws(SharedCoreError) { return .success(try await body()) } catch { return .failure(error) }
        }.value.get()
    }

    /// Waits for a duration.
    ///
    /// - Throws: `cancelled`, as soon as the task is cancelled.
    static func pause(_ duration: Duration) async throws(SharedCoreError) {
        let clock = SystemClock()
        do { try await clock.sleep(until: clock.now().advanced(by: duration)) } catch { throw .cancelled("log") }
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

    /// Ends the timer, waits for a running compaction, and closes the log. Later calls throw `closed`.
    func close() async {
        timer.end()
        let compaction = progress.withLock { progress in
            progress.failure = progress.failure ?? .closed(options.backend)
            progress.socket = nil
            return progress.compaction
        }
        // Wait for the compaction: if every participant lives only briefly, no compaction would ever complete
        // otherwise.
        await withTaskCancellationHandler {
            await compaction?.value
        } onCancel: {
            compaction?.cancel()
        }
        await log.close()
    }
}

extension SharedCoreError {
    /// Returns the error for a participant with another boot id than the participants that have the group open.
    static func otherRun(_ found: BootID, own: BootID) -> SharedCoreError {
        SharedCoreError(
            .incompatible,
            "Participants with the boot id \(found) have the group open; this one has \(own). Give all of them one boot id.",
            at: "log")
    }
}
