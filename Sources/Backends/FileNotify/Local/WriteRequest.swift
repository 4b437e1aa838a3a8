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

    let request: OrderRequest
    /// What the answer has to survive.
    let durability: Durability
    private let answer: @Sendable (Answer) -> Void

    init(_ request: OrderRequest, as durability: Durability, answer: @escaping @Sendable (Answer) -> Void) {
        self.request = request
        self.durability = durability
        self.answer = answer
    }

    func finish(with answer: Answer) {
        self.answer(answer)
    }
}
