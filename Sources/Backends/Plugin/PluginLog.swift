internal import CBackendPlugin
internal import CoreAPI
internal import LogBackend
internal import Platform
internal import Synchronization

/// A log that a plugin keeps. Its functions block, so they run on two threads: the waits on the second, and all other
/// calls in sequence on the first.
final class PluginLog: SharedLog {
    /// The bounds of calls into a plugin.
    struct Bounds: Sendable {
        /// The time in which a function must return.
        var call = Duration.seconds(30)
        /// The time for which closing waits for running calls.
        var close = Duration.seconds(4)
        /// The timeout of a wait, which is then repeated.
        var wait = Duration.seconds(60)
    }

    private struct State {
        var isClosed = false
        /// True after the plugin's handle was closed.
        var isOver = false
        /// The plugin's function that is running now; nil if none is.
        var running: Running?
        var lastNumber: UInt64 = 0
        /// The largest end of the log that a call has shown. A log does not become shorter.
        var end: UInt64 = 0
    }

    private struct Running {
        let number: UInt64
        let name: String
        /// True if the function has not returned in its time.
        var isLate = false
    }

    let promises: PluginPromises
    private let table: PluginTable
    private let bounds: Bounds
    /// The plugin's handle, as a word.
    private let handle: UInt
    /// The values that errors of the plugin do not show.
    private let secrets: [String]
    private let calls = SerialThread(name: "sc-plugin")
    private let waits = SerialThread(name: "sc-plugin-wait")
    private let state = Mutex(State())

    private init(_ table: PluginTable, handle: UInt, promises: PluginPromises, secrets: [String], bounds: Bounds) {
        self.table = table
        self.handle = handle
        self.promises = promises
        self.secrets = secrets
        self.bounds = bounds
    }

    private var log: OpaquePointer? { OpaquePointer(bitPattern: handle) }

    /// Opens the log of a group. Does not wait for the plugin if it does not return in time, or if the task is cancelled; the
    /// plugin then keeps its thread.
    static func open(
        _ table: PluginTable, _ place: PluginPlace, bounds: Bounds = Bounds()
    ) async throws(SharedCoreError) -> PluginLog {
        let opened = Promise<Result<PluginLog, SharedCoreError>>()
        SerialThread(name: "sc-plugin").submit {
            let result: Result<PluginLog, SharedCoreError>
            do throws(SharedCoreError) {
                let (log, promises) = try place.open(table)
                result = .success(
                    PluginLog(table, handle: log, promises: promises, secrets: place.secrets, bounds: bounds))
            } catch {
                result = .failure(error.hiding(place.secrets))
            }
            guard !opened.fulfil(result), case .success(let log) = result else { return }
            // The caller has stopped waiting, so close the log that was opened too late.
            table.functions.close(log.log)
        }
        let bound = place.timeout + bounds.close
        let timer = Task {
            try await SystemClock().sleep(for: bound)
            opened.fulfil(.failure(Self.late("open", after: bound, .unavailable, at: table.path)))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            await opened.value()
        } onCancel: {
            opened.fulfil(.failure(.cancelled("log")))
        }.get()
    }

    // MARK: - SharedLog

    func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool {
        try await run("append", whenLate: .outcomeUnknown) { [self] table, log throws(SharedCoreError) in
            let code = try table.call("append", allowing: [SB_OK, SB_NOT_APPENDED]) { error in
                record.withUnsafeBufferPointer {
                    table.functions.append(log, position, $0.baseAddress, $0.count, error)
                }
            }
            guard Int(code) == SB_OK else { return false }
            state.withLock { $0.end = max($0.end, position + 1) }
            return true
        }
    }

    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        // A plugin may return fewer records than there are, in pages of its own size.
        var slice = try await page(from: position, limit: limit)
        var next = max(position, slice.slice.start) + UInt64(slice.slice.records.count)
        while slice.slice.records.count < limit, next < slice.end {
            let further = try await page(from: next, limit: limit - slice.slice.records.count)
            // A compaction happened between the pages. Return the records so far; the group reads the rest with its
            // next call.
            guard further.slice.snapshot == nil else { break }
            slice.slice.records += further.slice.records
            slice.end = further.end
            next += UInt64(further.slice.records.count)
        }
        return slice.slice
    }

    private func page(
        from position: UInt64, limit: Int
    ) async throws(SharedCoreError) -> (slice: LogSlice, end: UInt64) {
        try await run("read", whenLate: .unavailable) { [self] table, log throws(SharedCoreError) in
            let reading = PluginReading(from: position, limit: limit, knownEnd: state.withLock(\.end))
            _ = try table.call("read") { error in
                reading.take { table.functions.read(log, position, limit, $0, error) }
            }
            let slice = try reading.result(at: table.path)
            state.withLock { $0.end = max($0.end, reading.end) }
            return (slice, reading.end)
        }
    }

    func wait(after position: UInt64) async throws(SharedCoreError) {
        let ended = Promise<Result<Void, SharedCoreError>>()
        waits.submit { [self] in
            // Do not call the function if the caller has given up meanwhile, or if the log was closed.
            let isWanted = ended.whileOpen {}
            guard isWanted, !state.withLock(\.isClosed) else {
                ended.fulfil(.failure(.closed(table.path)))
                return
            }
            var result: Result<Void, SharedCoreError>?
            while result == nil, ended.whileOpen({}), !state.withLock(\.isClosed) {
                do throws(SharedCoreError) {
                    let code = try table.call("wait", allowing: [SB_OK, SB_NOTHING]) {
                        table.functions.wait(log, position, bounds.wait.inMilliseconds, $0)
                    }
                    if Int(code) == SB_OK { result = .success(()) }
                } catch {
                    result = .failure(error.hiding(secrets))
                }
            }
            ended.fulfil(result ?? .failure(.closed(table.path)))
        }
        try await withTaskCancellationHandler {
            await ended.value()
        } onCancel: {
            if ended.fulfil(.failure(.cancelled("log"))) { interrupt() }
        }.get()
    }

    func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) {
        try await run("compact", whenLate: .unavailable) { table, log throws(SharedCoreError) in
            let bytes = PluginSnapshot.bytes(of: snapshot)
            _ = try table.call("compact") { error in
                bytes.withUnsafeBufferPointer {
                    table.functions.compact(log, position, $0.baseAddress, $0.count, error)
                }
            }
        }
    }

    func close() async {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        let closed = Promise<Void>()
        interrupt()
        // Close the handle after the running wait and all calls. If one of these functions never returns, the handle
        // stays open.
        waits.submit { [self] in
            calls.submit { [self] in
                state.withLock { $0.isOver = true }
                table.functions.close(log)
                closed.open()
            }
        }
        let timer = Task { [bounds] in
            try await SystemClock().sleep(for: bounds.close)
            closed.open()
        }
        await closed.pass()
        timer.cancel()
    }

    // MARK: - Calls

    /// Ends the running wait, behind the running call, however late that returns. Does not wait for the plugin.
    private func interrupt() {
        let number = newNumber()
        calls.submit { [self] in
            let isWanted = state.withLock { state in
                if !state.isOver { state.running = Running(number: number, name: "interrupt") }
                return !state.isOver
            }
            guard isWanted else { return }
            let timer = Task { [self] in
                try await SystemClock().sleep(for: bounds.call)
                _ = noteLate(number)
            }
            table.functions.interrupt(log)
            timer.cancel()
            state.withLock { $0.running = nil }
        }
    }

    private func newNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Notes that a function is late, if it is running. Returns the name of the running function, and whether it is this
    /// one.
    private func noteLate(_ number: UInt64) -> (name: String?, isRunning: Bool) {
        state.withLock { state in
            let isRunning = state.running?.number == number
            if isRunning { state.running?.isLate = true }
            return (state.running?.name, isRunning)
        }
    }

    /// Runs a function of the plugin, and abandons it if it does not return.
    private func run<Value: Sendable>(
        _ name: String, whenLate code: SharedCoreError.Code,
        _ body: @escaping @Sendable (PluginTable, OpaquePointer?) throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        let (running, isClosed) = state.withLock { ($0.running, $0.isClosed) }
        if isClosed { throw .closed(table.path) }
        if let running, running.isLate {
            throw SharedCoreError(
                .unavailable, "The plugin has not returned from its function “\(running.name)”. Nothing was done.",
                at: table.path)
        }
        let answer = Promise<Result<Value, SharedCoreError>>()
        let number = newNumber()
        let timer = Task { [self] in
            try await SystemClock().sleep(for: bounds.call)
            let (late, isRunning) = noteLate(number)
            // If the function has not begun, it will not be called.
            answer.fulfil(
                .failure(Self.late(late ?? name, after: bounds.call, isRunning ? code : .unavailable, at: table.path)))
        }
        defer { timer.cancel() }
        calls.submit { [self] in
            let isWanted = state.withLock { state in
                !state.isClosed && answer.whileOpen { state.running = Running(number: number, name: name) }
            }
            guard isWanted else {
                answer.fulfil(.failure(.closed(table.path)))
                return
            }
            let result: Result<Value, SharedCoreError>
            do throws(SharedCoreError) {
                result = .success(try body(table, log))
            } catch {
                result = .failure(error.hiding(secrets))
            }
            state.withLock { $0.running = nil }
            answer.fulfil(result)
        }
        return try await answer.value().get()
    }

    private static func late(
        _ name: String, after bound: Duration, _ code: SharedCoreError.Code, at path: String
    ) -> SharedCoreError {
        SharedCoreError(code, "The plugin has not returned from its function “\(name)” within \(bound).", at: path)
    }
}

extension TimeSource {
    fileprivate func sleep(for duration: Duration) async throws(CancellationError) {
        try await sleep(until: now().advanced(by: duration))
    }
}

extension Duration {
    /// The milliseconds, rounded up.
    var inMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        return overflow
            ? .max
            : product.addingReportingOverflow((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000).partialValue
    }
}
