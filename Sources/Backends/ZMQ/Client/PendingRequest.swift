internal import CoreAPI

/// A request that waits to be sent or to be answered. The link's thread alone uses it.
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
    /// How often it was sent.
    var sendCount = 0
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

    /// The error of a request that is given up.
    func error(for fault: SharedCoreError) -> SharedCoreError {
        guard isSent, case .commit = question else { return fault }
        return SharedCoreError(
            .outcomeUnknown, "The hub's answer did not come: the commit may or may not have taken effect.",
            at: fault.location, cause: "\(fault)")
    }
}
