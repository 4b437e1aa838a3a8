package import Coordination
package import CoreAPI
internal import MaildirCore
internal import Platform
package import ProgramOutput

/// One Executor from its push to its end: gets its message, shows it, acknowledges it, and lets its core serve the
/// other calls.
package enum ExecutorRun {
    /// The executor for a program that only serves its push: the participants' thread. On Swift's pool a process that
    /// waits would change threads with each step and wake once a second. Blocking calls belong on another thread.
    package static var executor: any TaskExecutor { ParticipantThread.shared }

    /// Takes part in a group through an open handle with the role of an Executor, which stays open.
    ///
    /// If the task is cancelled, the core is stopped if it runs here, and everything is released.
    ///
    /// - Parameter show: Shows the report. If it throws, the message was not shown, so it is given back.
    /// - Returns: The report that was shown.
    package static func run(
        _ request: ExecutorRequest, in group: any SharedStore,
        show: (ExecutorReport) async throws -> Void
    ) async throws -> ExecutorReport {
        let executor = try participant(for: request, in: group)
        do {
            let report = try await serve(request, by: executor, in: group, show: show)
            await withTaskCancellationHandler {
                await executor.finish()
            } onCancel: {
                Task(executorPreference: self.executor) { await executor.close() }
            }
            await close(executor)
            return report
        } catch {
            await close(executor)
            throw error
        }
    }

    /// Releases everything, in a task of its own, because a wait in a cancelled task ends at once.
    private static func close(_ executor: ExecutorParticipant) async {
        await Task(executorPreference: self.executor) { await executor.close() }.value
    }

    private static func participant(
        for request: ExecutorRequest, in group: any SharedStore
    ) throws -> ExecutorParticipant {
        let environment = CoordinationEnvironment(witness: request.witness)
        return try ExecutorParticipant(of: group, options: request.options, environment: environment) {
            request.command?.makeCore()
                ?? MaildirCore(
                    directory: request.maildir, startDelay: request.startDelay, memory: request.memory)
        }
    }

    /// Gets the answer, shows it, and acknowledges it.
    private static func serve(
        _ request: ExecutorRequest, by executor: ExecutorParticipant, in group: any SharedStore,
        show: (ExecutorReport) async throws -> Void
    ) async throws -> ExecutorReport {
        let clock = SystemClock()
        let beginning = clock.now()
        let answer: MessageResult
        do throws(CoordinationError) {
            answer = try await executor.message(
                forCallID: request.callID, timeout: request.timeout, insisting: request.insists,
                reporting: request.reporting)
        } catch {
            let report = ExecutorReport(
                event: try event(of: error), callID: request.callID, message: nil, source: nil,
                coreStarts: await executor.coreStarts, elapsed: beginning.duration(to: clock.now()),
                reason: error.message)
            try await show(report)
            return report
        }

        let report = ExecutorReport(
            answer, for: request.callID, coreStarts: await executor.coreStarts,
            elapsed: beginning.duration(to: clock.now()))
        guard case .message(let taken) = answer.content else {
            try await show(report)
            // An open call continues to ring; the process that shows its end acknowledges it.
            if case .call(let call) = answer.content, !call.isOpen {
                if request.isConfirmed { try await waitForHost(request, since: beginning, by: clock) }
                try await acknowledge(call, in: group)
            }
            return report
        }
        do {
            try await show(report)
            if request.isConfirmed { try await waitForHost(request, since: beginning, by: clock) }
        } catch {
            // Done even if the task was cancelled. If the store refuses, the message goes back when the session ends.
            await Task(executorPreference: self.executor) { _ = try? await executor.giveBack(taken) }.value
            throw error
        }
        try await acknowledge(taken, by: executor)
        return report
    }

    private static func waitForHost(
        _ request: ExecutorRequest, since beginning: BootInstant, by clock: any TimeSource
    ) async throws {
        // A running host confirms the message, or ends this process, before this deadline. If the host is stopped, the
        // message is given back for other Executors.
        try await Confirmation.wait(until: beginning.advanced(by: request.options.executorBudget), by: clock)
    }

    /// Acknowledges an ended call, which no process has in hand.
    private static func acknowledge(_ call: Call, in group: any SharedStore) async throws {
        let acknowledgement = Task(executorPreference: self.executor) { () async throws(SharedCoreError) -> Bool in
            try await Calls(group).acknowledge(call.id)
        }
        _ = try await acknowledgement.value
    }

    /// Acknowledges a shown message, also in a cancelled task, because it was shown.
    ///
    /// - Throws: A failure with ``ExitStatus/output`` if the message has changed since it was shown, so that the host
    ///   tries the push again.
    private static func acknowledge(_ message: TakenMessage, by executor: ExecutorParticipant) async throws {
        let acknowledgement = Task(executorPreference: self.executor) { () async throws(CoordinationError) -> Bool in
            try await executor.acknowledge(message)
        }
        guard try await acknowledgement.value else {
            throw ExecutorFailure(
                .output,
                "the message was updated, withdrawn or acknowledged by a Main while it was shown; ask for it again"
            )
        }
    }

    /// Returns the event that an error means for the call-id. Throws if the error says nothing about the call-id.
    private static func event(of error: CoordinationError) throws(ExecutorFailure) -> ExecutorReport.Event {
        switch error.code {
        case .refused: return .refused
        case .timeout:
            // A timeout with a cause is no answer: the message may have come, but could not be stored.
            if error.cause != nil {
                throw ExecutorFailure(.unavailable, error.message.ending(withCode: error.code))
            }
            return .timeout
        // The end of the session says nothing about the call-id, so the host must try the push again.
        case .fenced where error.cause?.code == .sessionEnded:
            throw ExecutorFailure(.unavailable, error.message.ending(withCode: error.code))
        case .fenced, .superseded: return .fenced
        default: throw ExecutorFailure(error)
        }
    }
}

extension ExecutorReport {
    /// Makes the report of an answer.
    init(_ answer: MessageResult, for callID: CallID, coreStarts: Int, elapsed: Duration) {
        var event = Event.nothing
        var message: InboxMessage?
        var call: Call?
        switch answer.content {
        case .nothingToShow: break
        case .call(let found): (event, call) = (.call, found)
        case .message(let taken):
            message = taken.message
            event = taken.message.content.kind == .tooLarge ? .tooLarge : .message
        }
        self.init(
            event: event, callID: callID, message: message, call: call, source: answer.source, coreStarts: coreStarts,
            elapsed: elapsed, reason: nil)
    }
}

/// Why an Executor could not do its work. Such a failure says nothing about whether a message came for the call-id.
package struct ExecutorFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    /// One line for people.
    package let message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Creates the failure for an error of a participant.
    package init(_ error: CoordinationError) {
        switch error.code {
        case .cancelled:
            // If nothing could be stored before an interruption, the Executor would also have failed at its deadline.
            if let cause = error.cause, cause.code != .cancelled {
                self.init(.unavailable, "interrupted, and what a core receives cannot be stored now: \(cause.sentence)")
            } else {
                self.init(.no, "interrupted")
            }
        case .coreFailed: self.init(.coreFailed, error.message.ending(withCode: error.code))
        default:
            self.init(
                error.cause.map { ExitStatus($0.code) } ?? .unavailable,
                error.cause?.sentence ?? error.message.ending(withCode: error.code))
        }
    }
}
