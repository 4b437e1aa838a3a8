internal import CoreAPI
internal import Platform
internal import StoreEngine
internal import Synchronization

/// A request that waits to be sent or to be answered. Whoever acts for the link uses it, one at a time.
final class PendingRequest {
    /// What a request ends with.
    typealias Answer = Result<Reply.Body, SharedCoreError>

    /// What is asked; the client's revision is put in when it is sent.
    enum Question {
        case commit(Transaction)
        case read
        case probe
        case close
        case history(after: Revision)
    }

    let number: UInt64
    let question: Question
    /// When it is given up.
    var deadline: BootInstant
    /// Whether its task was cancelled.
    var isWithdrawn = false
    /// How often it was sent.
    var sendCount = 0
    /// When it was sent first.
    var sentAt: BootInstant?
    /// Whether the hub may have it.
    var isSent: Bool { sendCount > 0 }
    /// The answer, and the revision that the replica must reach before the caller gets it.
    var held: (reply: Reply.Body, revision: Revision)?
    private let finish: (Answer) -> Void

    init(number: UInt64, question: Question, deadline: BootInstant, finish: @escaping (Answer) -> Void) {
        self.number = number
        self.question = question
        self.deadline = deadline
        self.finish = finish
    }

    func end(with answer: Answer) {
        finish(answer)
    }

    /// What a request ends with that is not waited for any more. A commit that was answered is known to be done, or refused,
    /// though the replica does not reflect it yet.
    func lastAnswer(for fault: SharedCoreError) -> Answer {
        if case .commit = question, let held, !FailPoint.fails("link.heldAtEnd") { return .success(held.reply) }
        return .failure(error(for: fault))
    }

    /// The error of a request that is given up.
    func error(for fault: SharedCoreError) -> SharedCoreError {
        guard isSent, case .commit = question else { return fault }
        // It is known not to have taken effect; what it was refused for is still to be seen.
        if case .outcome(.refused, _, _)? = held?.reply { return fault }
        return SharedCoreError(
            .outcomeUnknown, "The hub's answer did not come: the commit may or may not have taken effect.",
            at: fault.location, cause: "\(fault)")
    }
}

/// What a caller and the link know a request by: the caller's task may be cancelled before the link has it.
final class RequestTicket: Sendable {
    /// The request's number; 0 as long as it has none.
    let number = Atomic<UInt64>(0)
    let isWithdrawn = Atomic(false)
}
