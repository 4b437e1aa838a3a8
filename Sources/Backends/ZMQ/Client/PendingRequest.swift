internal import CoreAPI
internal import Platform
internal import StoreEngine
internal import Synchronization

/// A request that waits to be sent or answered. Used by the thread that acts for the link, one at a time.
final class PendingRequest {
    /// The result of a request.
    typealias Answer = Result<Reply.Body, SharedCoreError>

    /// The request's content; the client's revision is added when it is sent.
    enum Question {
        case commit(Transaction)
        case read
        case probe
        case close
        case history(after: Revision)
        case keepBaton([UInt8], of: Revision, for: Duration)
        case fetchBaton(of: Revision, under: Revision)

        /// True if the request is sent only to a hub that promises ``Capability/batonBytes``.
        var isOfBaton: Bool {
            switch self {
            case .keepBaton, .fetchBaton: true
            case .commit, .read, .probe, .close, .history: false
            }
        }

        /// The longest wait for an answer; nil without a limit beside the request timeout. It is short for a baton,
        /// because the call that moves sends nothing meanwhile.
        var bound: Duration? { isOfBaton ? .seconds(1) : nil }
    }

    let number: UInt64
    let question: Question
    /// When the request is given up.
    var deadline: BootInstant
    /// True after the request's task was cancelled.
    var isWithdrawn = false
    /// How many times it was sent.
    var sendCount = 0
    /// When it was sent first.
    var sentAt: BootInstant?
    /// True if the hub may have the request.
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

    /// Returns the result of a request that is given up. A commit that was answered has succeeded or was refused,
    /// though the replica does not reflect it yet.
    func lastAnswer(for fault: SharedCoreError) -> Answer {
        if case .commit = question, let held, !FailPoint.fails("link.heldAtEnd") { return .success(held.reply) }
        return .failure(error(for: fault))
    }

    /// Returns the error of a request that is given up.
    func error(for fault: SharedCoreError) -> SharedCoreError {
        guard isSent, case .commit = question else { return fault }
        // A refused commit has not taken effect, but the replica does not show the reason of the refusal yet.
        if case .outcome(.refused, _, _)? = held?.reply { return fault }
        return SharedCoreError(
            .outcomeUnknown, "The hub's answer did not come: the commit may or may not have taken effect.",
            at: fault.location, cause: "\(fault)")
    }
}

/// A request as known to both the caller and the link: the caller's task may be cancelled before the link has the
/// request.
final class RequestTicket: Sendable {
    /// The request's number; 0 until it has one.
    let number = Atomic<UInt64>(0)
    let isWithdrawn = Atomic(false)
}
