internal import CoreAPI
internal import Replica
internal import StoreEngine
internal import Synchronization

/// The requests of this process that found the journal's lock taken, in order.
final class WriteQueue: Sendable {
    private struct State {
        var requests: [WriteRequest] = []
        var isServed = false
    }

    private let state = Mutex(State())
    private let count = Atomic(0)

    /// True if no request waits, so that a new request overtakes none if it tries the lock itself.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Adds a request.
    ///
    /// - Returns: Whether the caller must start a thread that serves the queue.
    func add(_ request: WriteRequest) -> Bool {
        state.withLock { state in
            state.requests.append(request)
            count.store(state.requests.count, ordering: .relaxed)
            defer { state.isServed = true }
            return !state.isServed
        }
    }

    /// Removes a request that has not been started.
    ///
    /// - Returns: Whether it was still there.
    func withdraw(_ request: WriteRequest) -> Bool {
        state.withLock { state in
            guard let index = state.requests.firstIndex(where: { $0 === request }) else { return false }
            state.requests.remove(at: index)
            count.store(state.requests.count, ordering: .relaxed)
            return true
        }
    }

    /// Takes the first request, for the thread that serves the queue.
    func takeFirst() -> WriteRequest? {
        state.withLock { state in
            guard !state.requests.isEmpty else { return nil }
            let first = state.requests.removeFirst()
            count.store(state.requests.count, ordering: .relaxed)
            return first
        }
    }

    /// Puts back a request that could not be served, at the front.
    func putBack(_ request: WriteRequest) {
        state.withLock { state in
            state.requests.insert(request, at: 0)
            count.store(state.requests.count, ordering: .relaxed)
        }
    }

    /// Ends the service of an empty queue; returns whether it has ended.
    func endService() -> Bool {
        state.withLock { state in
            guard state.requests.isEmpty else { return false }
            state.isServed = false
            return true
        }
    }
}

/// The outcome of a request, and the journal at that time.
struct Written: Sendable {
    let outcome: RequestOutcome
    let journal: Journal
    let tail: Int
}

/// A request that waits for the journal's lock.
final class WriteRequest: Sendable {
    typealias Answer = Result<Written, SharedCoreError>

    let request: OrderRequest
    /// The failure that the answer must survive.
    let durability: Durability
    /// The number of times that other writers have passed over it while it was being recorded.
    let passedOverCount = Atomic(0)
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
