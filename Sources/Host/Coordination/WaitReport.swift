internal import Coordination
internal import CoreAPI
internal import Logging
internal import Platform
internal import ProgramOutput
internal import Synchronization

extension CommandContext {
    /// Tells people on standard error what a participant waits for while `body` runs; nothing where they want to hear only
    /// what is wrong.
    ///
    /// Returns when all has been told.
    func reportingWaits<Value>(
        _ body: ((@Sendable (OwnershipWaitReason) -> Void)?) async throws -> Value
    ) async rethrows -> Value {
        guard logger.logLevel <= .notice else { return try await body(nil) }
        let report = WaitReport { StandardError.write("sharedcore: \(ValueText.oneLine($0.describe()))") }
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

/// Tells what a participant waits for: one line for a reason that stands for a second and was not the last one told.
///
/// In a burst of pushes, the reason changes with each owner, many times a second. The rest after a failure of the core is
/// told at once: it may be as short as that second.
final class WaitReport: Sendable {
    /// How long a reason stands before it is told.
    static let delay = Duration.seconds(1)

    private let clock: any TimeSource
    private let tell: @Sendable (OwnershipWaitReason) -> Void
    /// Calls ``tell``, which blocks where it writes to a pipe that is not read.
    private let thread = SerialThread(name: "waits")
    private let state = Mutex(State())

    private struct State {
        var reason: OwnershipWaitReason?
        var lastTold: OwnershipWaitReason?
        var timer: Task<Void, Never>?
    }

    /// - Parameter tell: Called for one reason after the other, on a thread of its own: it may block.
    init(by clock: any TimeSource = SystemClock(), tell: @escaping @Sendable (OwnershipWaitReason) -> Void) {
        self.clock = clock
        self.tell = tell
    }

    /// Takes in another reason. Returns at once.
    func hear(_ reason: OwnershipWaitReason) {
        state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
            // A core of its own that takes a moment to start is nothing to wait for.
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

    /// Tells nothing more. Returns when all has been told.
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
