internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The host's confirmation to its Executor: the host has read the printed line, and shown the message in it.
///
/// One byte on standard input. Without the byte the Executor gives the message back, because a host that has ended or
/// is stopped may not have shown it. The message may then be shown twice, but is never lost.
enum Confirmation {
    /// Waits for the confirmation, as long as the task is not cancelled.
    ///
    /// - Throws: A failure with ``ExitStatus/output`` if it does not come, so that the host tries the push again.
    static func wait(until deadline: BootInstant, by clock: any TimeSource) async throws {
        let ending = try EventCounter()
        let isConfirmed = await withTaskCancellationHandler {
            // On a thread of its own, because it blocks.
            await SerialThread(name: "confirmation").run {
                let timeout = max(.zero, clock.now().duration(to: deadline))
                let ready = Poll.wait(for: [StandardStream.input.rawValue, ending.descriptor], timeout: timeout)
                return ready[0] && OwnProcess.waitForLeave()
            }
        } onCancel: {
            ending.raise()
        }
        guard isConfirmed else {
            throw ExecutorFailure(
                .output, "the host has not confirmed that it has shown the message; the message was given back")
        }
    }
}
