internal import CBackendPlugin
internal import CoreAPI
internal import LogBackend
internal import Platform
internal import Synchronization

/// A log that a plugin keeps. Its functions block, so they run on two threads: those that must come one after another on the first,
/// and the waits on the second.
final class PluginLog: SharedLog {
    /// The bounds of calls into a plugin.
    struct Bounds: Sendable {
        /// The time in which a function must return.
        var call = Duration.seconds(30)
        /// The time that closing waits for what runs.
        var close = Duration.seconds(4)
        /// The timeout of a wait.
        var wait = Duration.seconds(60)
    }

    private struct State {
        var isClosed = false
        /// The function that runs; nil between two.
        var running: Running?
        var lastNumber: UInt64 = 0
    }

    private struct Running {
        let number: UInt64
        let name: String
        /// Whether it has not returned in its time.
        var isLate = false
    }

    let promises: PluginPromises
    private let table: PluginTable
    private let bounds: Bounds
    /// The plugin's handle, as a word.
    private let handle: UInt
    private let calls = SerialThread(name: "sc-plugin")
    private let waits = SerialThread(name: "sc-plugin-wait")
    private let state = Mutex(State())

    private init(_ table: PluginTable, handle: UInt, promises: PluginPromises, bounds: Bounds) {
        self.table = table
        self.handle = handle
        self.promises = promises
        self.bounds = bounds
    }

    private var log: OpaquePointer? { OpaquePointer(bitPattern: handle) }

    /// Opens the log of a group. A plugin that does not return in time keeps its thread.
    static func open(
        _ table: PluginTable, _ place: PluginPlace, bounds: Bounds = Bounds()
    ) async throws(SharedCoreError) -> PluginLog {
        let opened = Promise<Result<PluginLog, SharedCoreError>>()
        SerialThread(name: "sc-plugin").submit {
            let result: Result<PluginLog, SharedCoreError>
            do throws(SharedCoreError) {
                let (log, promises) = try place.open(table)
                result = .success(PluginLog(table, handle: log, promises: promises, bounds: bounds))
            } catch {
                result = .failure(error)
            }
            guard !opened.fulfil(result), case .success(let log) = result else { return }
            // Too late: no one has it.
            table.functions.close(log.log)
        }
        let bound = place.timeout + bounds.close
        let timer = Task {
            try await SystemClock().sleep(for: bound)
            opened.fulfil(.failure(Self.late("open", after: bound, .unavailable, at: table.path)))
        }
        defer { timer.cancel() }
        return try await opened.value().get()
    }

    // MARK: - SharedLog

    func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool {
        try await run("append", whenLate: .outcomeUnknown) { table, log throws(SharedCoreError) in
            let code = try table.call("append", allowing: [SB_OK, SB_NOT_APPENDED]) { error in
                record.withUnsafeBufferPointer {
                    table.functions.append(log, position, $0.baseAddress, $0.count, error)
                }
            }
            return Int(code) == SB_OK
        }
    }

    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        try await run("read", whenLate: .unavailable) { table, log throws(SharedCoreError) in
            let reading = PluginReading(from: position, limit: limit)
            _ = try table.call("read") { error in
                reading.take { table.functions.read(log, position, limit, $0, error) }
            }
            return try reading.result(at: table.path)
        }
    }

    func wait(after position: UInt64) async throws(SharedCoreError) {
        let ended = Promise<Result<Void, SharedCoreError>>()
        waits.submit { [self] in
            // One that was given up meanwhile, or comes after the close, never runs.
            let isWanted = ended.whileOpen {}
            guard isWanted, !state.withLock(\.isClosed) else {
                ended.fulfil(.failure(.closed(table.path)))
                return
            }
            let result: Result<Void, SharedCoreError>
            do throws(SharedCoreError) {
                _ = try table.call("wait") { table.functions.wait(log, position, bounds.wait.inMilliseconds, $0) }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            ended.fulfil(result)
        }
        try await withTaskCancellationHandler {
            await ended.value()
        } onCancel: {
            if ended.fulfil(.failure(.cancelled("log"))) { interrupt() }
        }.get()
    }

    func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) {
        try await run("compact", whenLate: .unavailable) { table, log throws(SharedCoreError) in
            let bytes = snapshot.flatMap { $0 }
            _ = try table.call("compact") { error in
                bytes.withUnsafeBufferPointer { all in
                    var parts: [sb_bytes] = []
                    var offset = 0
                    for part in snapshot {
                        parts.append(sb_bytes(bytes: all.baseAddress.map { $0 + offset }, count: part.count))
                        offset += part.count
                    }
                    return table.functions.compact(log, position, parts, parts.count, error)
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
        let (table, handle, calls) = (table, handle, calls)
        // Behind the wait that runs, and behind each call: a function that does not return keeps the handle.
        waits.submit {
            calls.submit {
                table.functions.close(OpaquePointer(bitPattern: handle))
                closed.open()
            }
        }
        interrupt()
        let timer = Task { [bounds] in
            try await SystemClock().sleep(for: bounds.close)
            closed.open()
        }
        await closed.pass()
        timer.cancel()
    }

    // MARK: - Calls

    private func interrupt() {
        // Not after the close: the job that closes waits for the wait.
        table.functions.interrupt(log)
    }

    /// Runs a function of the plugin, and gives it up when it does not return.
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
        calls.submit { [self] in
            let number = state.withLock { state -> UInt64? in
                guard !state.isClosed else { return nil }
                state.lastNumber += 1
                state.running = Running(number: state.lastNumber, name: name)
                return state.lastNumber
            }
            guard let number else {
                answer.fulfil(.failure(.closed(table.path)))
                return
            }
            let timer = Task { [self] in
                try await SystemClock().sleep(for: bounds.call)
                let isLate = state.withLock { state in
                    guard state.running?.number == number else { return false }
                    state.running?.isLate = true
                    return true
                }
                if isLate { answer.fulfil(.failure(Self.late(name, after: bounds.call, code, at: table.path))) }
            }
            let result: Result<Value, SharedCoreError>
            do throws(SharedCoreError) {
                result = .success(try body(table, log))
            } catch {
                result = .failure(error)
            }
            timer.cancel()
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
    fileprivate var inMilliseconds: Int64 { Int64(clamping: components.seconds) * 1_000 }
}
