internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Why the program ends without success.
struct BenchFailure: Error {
    let status: ExitStatus
    /// One line without the program's name; nil where there is nothing to say.
    let message: String?

    init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// - Returns: Nil when the error is no failure, such as a closed standard output.
    init?(endedBy error: any Error) {
        switch error {
        case let failure as BenchFailure: self = failure
        case let error as SystemCallError where error.location == "standard output":
            if error.number == EPIPE { return nil }
            self.init(.output, "\(error.location): \(error.text)")
        case let error as SystemCallError: self.init(.unavailable, "\(error.location): \(error.text)")
        case let error as SharedCoreError: self.init(ExitStatus(error.code), error.sentence)
        default: self.init(.unavailable, "\(error)")
        }
    }
}

/// SIGINT and SIGTERM: they cancel the measurement, which tells what it has, and the program ends by them.
final class BenchInterruption: Sendable {
    private struct State {
        var signal: Int32?
        var running: Task<Void, any Error>?
    }

    private let state = Mutex(State())

    init() throws(SystemCallError) {
        try SignalRelay.begin([SIGINT, SIGTERM]) { [self] number, _ in
            let running = state.withLock { state in
                state.signal = state.signal ?? number
                return state.running
            }
            running?.cancel()
        }
    }

    /// - Throws: ``BenchFailure`` if a signal came, in place of the work's own error.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await body() }
        let isOver = state.withLock { state in
            state.running = task
            return state.signal != nil
        }
        if isOver { task.cancel() }
        let result = await task.result
        if let signal = state.withLock(\.signal) {
            throw BenchFailure(signal == SIGINT ? .interrupted : .terminated, "interrupted")
        }
        try result.get()
    }
}
