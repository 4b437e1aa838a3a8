internal import CoreAPI
internal import StoreEngine
internal import TestInstruments

@testable internal import LogBackend

extension MemoryLog {
    /// Joins the group of this log, through a view that may be changed.
    func join(
        clock: (any TimeSource)? = nil, _ change: (inout ChangedLog) -> Void = { _ in }
    ) async throws(SharedCoreError) -> ReplicatedGroup {
        var log = ChangedLog(view: open())
        change(&log)
        var options = LogGroupOptions.ofMemory
        if let clock { options.clock = clock }
        return try await ReplicatedGroup.open(log: log, options: options)
    }

    /// Adds the record of an effect, right behind the last one.
    func add(_ body: Effect.Body, at revision: Revision, time: BootInstant = BootInstant(nanoseconds: 0)) throws {
        let tail = try records.last.map { bytes throws(SharedCoreError) in try LogRecord(bytes).nonce }
        let place = LogPlace(position: start + UInt64(records.count), tail: tail ?? 0)
        add(try LogRecord.make(of: Effect(revision: revision, time: time, body: body), at: place).bytes)
    }

    /// The effects in the log.
    func effects() throws -> [Effect] {
        try records.map { bytes throws(SharedCoreError) in try LogRecord(bytes).effect }
    }

    /// Returns true if the log has the end of a session.
    func hasEnd(of session: SessionID) throws -> Bool {
        try effects().contains { if case .sessionEnded(session) = $0.body { true } else { false } }
    }
}

/// When something was called.
final class CallTimes: Sendable {
    private let times = Box<[ContinuousClock.Instant]>([])

    var count: Int { times.value.count }

    func note() { times.update { $0.append(.now) } }

    /// Returns true if the pauses between the calls were at least 50 ms, 100 ms, 200 ms and so on, up to 5 s.
    func areApart(from first: Int = 0) -> Bool {
        let times = times.value.dropFirst(first)
        return zip(times, times.dropFirst()).enumerated().allSatisfy { number, pair in
            pair.0.duration(to: pair.1) >= min(.milliseconds(50) * (1 << min(number, 10)), .seconds(5))
        }
    }
}
