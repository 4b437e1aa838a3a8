internal import Coordination
internal import CoreAPI
internal import Logging
internal import Platform
internal import ProgramOutput
internal import Synchronization

extension CommandContext {
    /// Prints on standard error what a participant waits for while `body` runs. Prints nothing if the log level shows
    /// only warnings.
    ///
    /// Returns when all lines are printed.
    ///
    /// - Parameter end: What ends the wait, such as an option; added to each line in brackets. Nil adds nothing.
    func reportingWaits<Value>(
        endedBy end: String? = nil, _ body: ((@Sendable (OwnershipWaitReason) -> Void)?) async throws -> Value
    ) async rethrows -> Value {
        guard logger.logLevel <= .notice else { return try await body(nil) }
        let hint = end.map { " (\($0))" } ?? ""
        let report = WaitReport { StandardError.write("sharedcore: \(ValueText.oneLine($0.describe()))\(hint)") }
        do {
            let value = try await body { report.hear($0) }
            await report.end()
            return value
        } catch {
            await report.end()
            throw error
        }
    }
}

/// Prints what a participant waits for: one line for each reason that lasts a second, unless it is the one printed
/// last.
///
/// In a burst of pushes, the reason changes with each owner, many times a second. The pause after a failure of the core
/// is printed at once, because it may last only a second.
final class WaitReport: Sendable {
    /// How long a reason must last before it is printed.
    static let delay = Duration.seconds(1)

    private let clock: any TimeSource
    private let tell: @Sendable (OwnershipWaitReason) -> Void
    /// The thread that calls ``tell``, which blocks while it writes to a pipe that is not read.
    private let thread = SerialThread(name: "waits")
    private let state = Mutex(State())

    private struct State {
        var reason: OwnershipWaitReason?
        var lastTold: OwnershipWaitReason?
        var timer: Task<Void, Never>?
    }

    /// Makes a report of a wait that has no reason yet.
    ///
    /// - Parameter tell: Called for one reason after the other, on a thread of its own: it may block.
    init(by clock: any TimeSource = SystemClock(), tell: @escaping @Sendable (OwnershipWaitReason) -> Void) {
        self.clock = clock
        self.tell = tell
    }

    /// Records a new reason. Returns at once.
    func hear(_ reason: OwnershipWaitReason) {
        state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
            // The start of this process's own core is not worth a report.
            state.reason = reason == .coreStart ? nil : reason
            switch reason {
            case .coreStart: break
            case .rest: tell(reason, in: &state)
            default:
                let due = clock.now().advanced(by: Self.delay)
                state.timer = Task.detached { [clock] in
                    do throws(CancellationError) {
                        try await clock.sleep(until: due)
                    } catch {
                        return
                    }
                    self.stands(reason)
                }
            }
        }
    }

    /// Ends the report. Returns when all lines are printed.
    func end() async {
        state.withLock { state in
            state.timer?.cancel()
            state.reason = nil
        }
        await thread.run {}
    }

    private func stands(_ reason: OwnershipWaitReason) {
        state.withLock { state in
            if state.reason == reason { tell(reason, in: &state) }
        }
    }

    private func tell(_ reason: OwnershipWaitReason, in state: inout State) {
        guard state.lastTold != reason else { return }
        state.lastTold = reason
        thread.submit { [tell] in tell(reason) }
    }
}
