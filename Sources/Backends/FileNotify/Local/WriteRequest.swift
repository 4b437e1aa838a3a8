internal import CoreAPI
internal import Replica
internal import StoreEngine
internal import Synchronization

/// What became of a request, and where the journal stood then.
struct Written: Sendable {
    let outcome: RequestOutcome
    let journal: Journal
    let tail: Int
}

/// A request that waits for the journal's lock.
final class WriteRequest: Sendable {
    typealias Answer = Result<Written, SharedCoreError>

    let judge: Judge
    private let answer: @Sendable (Answer) -> Void

    init(_ judge: @escaping Judge, answer: @escaping @Sendable (Answer) -> Void) {
        self.judge = judge
        self.answer = answer
    }

    func finish(with answer: Answer) {
        self.answer(answer)
    }
}
