internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Appending to the log, and replacing it by a snapshot.
extension LogOrder {
    /// The outcome of an append.
    enum AppendResult {
        case appended
        /// Other participants have appended first. Their records are applied now.
        case overtaken
        /// The log refused the record, but a read shows no other record at the position.
        case refused
    }

    /// Appends in sequence that the log has refused, although it has no other record at the position.
    struct Refusals {
        /// The pauses before the last attempt are 21 s in all.
        private static let pauseCount = 10

        private var count = 0
        private var delay = RetryDelay()

        /// Pauses before the next attempt.
        ///
        /// - Throws: `unavailable` after the last attempt; `cancelled`, as soon as the task is.
        mutating func pause(at location: String) async throws(SharedCoreError) {
            guard count < Self.pauseCount else {
                throw SharedCoreError(
                    .unavailable,
                    "The log has refused a record \(count + 1) times, and shows no other one at the position.",
                    at: location)
            }
            count += 1
            try await LogOrder.pause(delay.next())
        }
    }

    /// The number of bytes of records after a snapshot at which even a small snapshot is replaced.
    private static let compactionByteCount = 1 << 20

    /// Appends an effect and applies it. A cancellation does not interrupt the append, so the caller learns its
    /// outcome.
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

    /// Appends a record, and reads the log if the outcome is not known. A position takes one record only, so trying
    /// once more is safe.
    private func append(
        _ bytes: [UInt8], of record: LogRecord, at place: LogPlace
    ) async throws(SharedCoreError) -> AppendResult {
        // The error of the first attempt. The outcome of that attempt is unknown: the log may still append its record.
        var firstDoubt: SharedCoreError?
        while true {
            var doubt: SharedCoreError?
            do throws(SharedCoreError) {
                if try await log.append(bytes, at: place.position) { return .appended }
            } catch {
                guard [.outcomeUnknown, .unavailable, .system].contains(error.code) else {
                    let failure = fail(with: error)
                    throw firstDoubt.map { .unknownOutcome($0) } ?? failure
                }
                doubt = error
            }
            // If no attempt has an unknown outcome, a record at this position is another participant's, and may have
            // been applied meanwhile.
            if doubt == nil, firstDoubt == nil {
                if progress.withLock({ $0.place.position > place.position }) { return .overtaken }
                if try await takeReceived(from: place.position) { return .overtaken }
            }
            let slice: LogSlice
            do throws(SharedCoreError) {
                slice = try await read(from: place.position, limit: Self.readLimit)
            } catch {
                throw (firstDoubt ?? doubt).map { .unknownOutcome($0) } ?? error
            }
            _ = try take(slice, from: place.position)
            if slice.snapshot != nil {
                if let doubt = firstDoubt ?? doubt { throw .unknownOutcome(doubt) }
                return .overtaken
            }
            if let first = slice.records.first {
                return try LogRecord(first).nonce == record.nonce ? .appended : .overtaken
            }
            if let firstDoubt { throw .unknownOutcome(firstDoubt) }
            guard let doubt else {
                try await requireTail(of: place)
                return .refused
            }
            firstDoubt = doubt
        }
    }

    /// Checks, after a refusal, that the log still contains the last record that was applied here: a log that has lost
    /// records ends before it.
    private func requireTail(of place: LogPlace) async throws(SharedCoreError) {
        guard place.position > 0 else { return }
        let slice = try await read(from: place.position - 1, limit: 1)
        if slice.snapshot != nil, slice.start >= place.position { return }
        if let last = slice.records.first, try LogRecord(last).nonce == place.tail { return }
        throw fail(with: LogRecord.damaged("The log has lost the record at \(place.position - 1), which it had given."))
    }

    /// Replaces the records by a snapshot if they are many times larger than the snapshot.
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
            // A failed compaction is no error, because the records can still be read. Try again only after more
            // records, not after each one.
            progress.withLock { $0.leastCompaction = $0.byteCount + Self.compactionByteCount }
        }
    }
}

extension SharedCoreError {
    /// Returns the error of a commit with an outcome that cannot be determined.
    fileprivate static func unknownOutcome(_ cause: SharedCoreError) -> SharedCoreError {
        SharedCoreError(
            .outcomeUnknown, "The log did not answer an append, and a read does not show whether it has the record.",
            at: cause.location, cause: cause.cause ?? cause.message)
    }
}
