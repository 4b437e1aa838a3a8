internal import CoreAPI
internal import LogBackend
internal import Synchronization

/// A log in memory, which each participant opens for itself.
final class MemoryLog: Sendable {
    private struct State {
        var start: UInt64 = 0
        var snapshot: [[UInt8]]?
        var records: [[UInt8]] = []
        var killed: Set<SessionID> = []
        var waits: [UInt64: Promise<Void>] = [:]
        var lastWait: UInt64 = 0
        /// True while its server has ended.
        var isAway = false
        /// True if only small records fit.
        var isFull = false

        var end: UInt64 { start + UInt64(records.count) }
    }

    private let state = Mutex(State())

    /// The records behind the snapshot.
    var records: [[UInt8]] { state.withLock(\.records) }
    /// The position of the snapshot.
    var start: UInt64 { state.withLock(\.start) }

    /// Removes the last record, which a log must not do.
    func removeLast() { state.withLock { _ = $0.records.removeLast() } }

    /// Puts a record at a position, also in place of another one, as a log must not.
    func force(_ record: [UInt8], at position: UInt64) {
        state.withLock { state in
            let index = Int(position - state.start)
            state.records.replaceSubrange(index..<min(index + 1, state.records.count), with: [record])
        }
        wake()
    }

    /// Adds a record that no participant has made.
    func add(_ record: [UInt8]) {
        state.withLock { $0.records.append(record) }
        wake()
    }

    /// Ends the server and starts it again. Calls that are on their way lose their answers.
    func restart() async throws {
        state.withLock { $0.isAway = true }
        wake()
        try await Task.sleep(for: .milliseconds(100))
        state.withLock { $0.isAway = false }
    }

    func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    /// Opens the log for a participant.
    func open() -> View { View(of: self) }

    private func wake() {
        let waits = state.withLock { state in
            defer { state.waits = [:] }
            return state.waits.values
        }
        for wait in waits { wait.open() }
    }

    /// The log as one participant has it, which can be killed and stopped.
    final class View: SharedLog {
        private struct Life {
            var session: SessionID?
            var isKilled = false
            var stop: Promise<Void>?
            /// True while nothing reaches the log.
            var isCut = false
            /// The time after which the participant learns of a record.
            var delay = Duration.zero
            /// The number of deaths that have ended a wait.
            var seenDeathCount = 0
        }

        let log: MemoryLog
        private let life = Mutex(Life())

        fileprivate init(of log: MemoryLog) {
            self.log = log
        }

        func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool {
            try await pass()
            let isAppended = try log.state.withLock { state throws(SharedCoreError) in
                if state.isFull, record.count > 64 << 10 {
                    throw SharedCoreError(.storageFull, "The log is full.", at: "memory log")
                }
                guard position == state.end else { return false }
                state.records.append(record)
                return true
            }
            if isAppended { log.wake() }
            // The answer may be lost.
            try await pass()
            return isAppended
        }

        func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
            try await pass()
            return log.state.withLock { state in
                let isBehind = position < state.start
                let first = isBehind ? 0 : Int(position - state.start)
                return LogSlice(
                    start: state.start, snapshot: isBehind ? state.snapshot : nil,
                    records: Array(state.records.dropFirst(first).prefix(limit)))
            }
        }

        func wait(after position: UInt64) async throws(SharedCoreError) {
            try await pass()
            let wait = Promise<Void>()
            let seen = life.withLock(\.seenDeathCount)
            // After this, the caller asks which sessions have ended.
            defer { life.withLock { $0.seenDeathCount = log.state.withLock(\.killed.count) } }
            let number: UInt64? = log.state.withLock { state in
                // The participant was not notified of a death before this wait began.
                guard state.end <= position, state.killed.count == seen else { return nil }
                state.lastWait += 1
                state.waits[state.lastWait] = wait
                return state.lastWait
            }
            guard let number else { return }
            await withTaskCancellationHandler {
                await wait.pass()
            } onCancel: {
                wait.open()
            }
            log.state.withLock { _ = $0.waits.removeValue(forKey: number) }
            let delay = life.withLock(\.delay)
            if delay > .zero {
                do { try await Task.sleep(for: delay) } catch { throw .cancelled("memory log") }
            }
            try await pass()
        }

        func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) {
            try await pass()
            log.state.withLock { state in
                guard position > state.start else { return }
                state.records.removeFirst(Int(position - state.start))
                (state.snapshot, state.start) = (snapshot, position)
            }
        }

        func hold(_ session: SessionID) async throws(SharedCoreError) {
            life.withLock { $0.session = session }
        }

        func ended(among sessions: [Session]) async throws(SharedCoreError) -> [SessionID]? {
            try await pass()
            let killed = log.state.withLock(\.killed)
            return sessions.map(\.id).filter(killed.contains)
        }

        func close() async {}

        // MARK: - Simulated faults

        /// Ends the participant as the death of its process would.
        func kill() {
            let session = life.withLock { life in
                life.isKilled = true
                return life.session
            }
            if let session { log.state.withLock { _ = $0.killed.insert(session) } }
            `continue`()
            log.wake()
        }

        /// Holds the participant up as the stop of its process would.
        func stop() {
            life.withLock { $0.stop = $0.stop ?? Promise() }
        }

        func `continue`() {
            let stop = life.withLock { life in
                defer { life.stop = nil }
                return life.stop
            }
            stop?.open()
        }

        /// Lets nothing reach the log, or everything again.
        func cut(_ isCut: Bool) {
            life.withLock { $0.isCut = isCut }
            log.wake()
        }

        func delay(by time: Duration) { life.withLock { $0.delay = time } }

        /// Waits while the participant is stopped, and for no answer where none comes.
        private func pass() async throws(SharedCoreError) {
            while let stop = life.withLock(\.stop) { await stop.pass() }
            if life.withLock(\.isKilled) {
                throw SharedCoreError(.sessionEnded, "The participant was killed.", at: "memory log")
            }
            guard life.withLock(\.isCut) || log.state.withLock(\.isAway) else { return }
            do { try await Task.sleep(for: .milliseconds(20)) } catch { throw .cancelled("memory log") }
            throw SharedCoreError(.unavailable, "The log does not answer.", at: "memory log")
        }
    }
}

/// A view of a log that a test has changed.
struct ChangedLog: SharedLog {
    typealias Append =
        @Sendable (MemoryLog.View, [UInt8], UInt64) async throws(SharedCoreError) -> Bool
    typealias Read = @Sendable (MemoryLog.View, UInt64, Int) async throws(SharedCoreError) -> LogSlice
    typealias Wait = @Sendable (MemoryLog.View, UInt64) async throws(SharedCoreError) -> Void

    typealias Compact = @Sendable (MemoryLog.View, [[UInt8]], UInt64) async throws(SharedCoreError) -> Void
    typealias Ended = @Sendable (MemoryLog.View, [Session]) async throws(SharedCoreError) -> [SessionID]?

    let view: MemoryLog.View
    var append: Append = { view, record, position throws(SharedCoreError) in
        try await view.append(record, at: position)
    }
    var read: Read = { view, position, limit throws(SharedCoreError) in
        try await view.read(from: position, limit: limit)
    }
    var wait: Wait = { view, position throws(SharedCoreError) in try await view.wait(after: position) }
    var compact: Compact = { view, snapshot, position throws(SharedCoreError) in
        try await view.compact(snapshot, before: position)
    }
    var ended: Ended = { view, sessions throws(SharedCoreError) in try await view.ended(among: sessions) }
    var received: @Sendable (MemoryLog.View, UInt64) async -> [[UInt8]] = { _, _ in [] }
    var close: @Sendable (MemoryLog.View) async -> Void = { view in await view.close() }
    var lease: SessionLease?

    func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool {
        try await append(view, record, position)
    }

    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        try await read(view, position, limit)
    }

    func wait(after position: UInt64) async throws(SharedCoreError) { try await wait(view, position) }

    func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) {
        try await compact(view, snapshot, position)
    }

    func hold(_ session: SessionID) async throws(SharedCoreError) { try await view.hold(session) }

    func ended(among sessions: [Session]) async throws(SharedCoreError) -> [SessionID]? {
        try await ended(view, sessions)
    }

    func received(from position: UInt64) async -> [[UInt8]] { await received(view, position) }

    func close() async { await close(view) }
}
