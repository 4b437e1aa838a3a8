internal import CoreAPI
internal import Replica
internal import StoreEngine

/// The order of commits of a group in memory. A mutex serializes the commits, and direct calls deliver the updates.
final class MemoryStore: Sendable {
    let replica: Replica
    /// Distinguishes the group from a later one with the same name.
    let incarnation = UInt64.random(in: 1...UInt64.max)
    private let clock: any TimeSource
    private let executor: (any TaskExecutor)?
    private let timer = ExpiryTimer()

    init(state: StoreState, clock: any TimeSource, executor: (any TaskExecutor)?) {
        self.replica = Replica(state)
        self.clock = clock
        self.executor = executor
    }

    deinit {
        timer.end()
    }

    func join(_ opening: SessionOpening) throws(SharedCoreError) -> Session {
        let id = SessionID(rawValue: try record(.join(opening)).get().revision.rawValue)
        guard let session = replica.read({ $0.sessions[id]?.session }) else {
            throw SharedCoreError(.corrupt, "The session that was opened does not exist.", at: "memory")
        }
        return session
    }

    func commit(_ transaction: Transaction, of session: SessionID) throws(SharedCoreError) -> Commit {
        try record(.commit(transaction, of: session)).get()
    }

    /// Evaluates a request at the next place in the order, and records its effect.
    func record(_ request: OrderRequest) throws(SharedCoreError) -> RequestOutcome {
        let now = clock.now()
        let (outcome, nextExpiry) = try replica.update {
            state throws(SharedCoreError) -> (RequestOutcome, BootInstant?) in
            while true {
                switch try state.next(for: request, at: now) {
                case .expireFirst(let effect):
                    state.apply(effect)
                case .record(let effect, let outcome):
                    state.apply(effect)
                    return (outcome, state.nextExpiry())
                case .answer(let outcome):
                    return (outcome, state.nextExpiry())
                }
            }
        }
        schedule(nextExpiry)
        return outcome
    }

    /// Ends a session. Does nothing if it has ended.
    func end(_ session: SessionID) {
        _ = try? record(.end(session))
    }

    /// Removes expired entries, then reads the state.
    func read<Result>(_ body: (inout StoreState) throws(SharedCoreError) -> sending Result) throws(SharedCoreError)
        -> sending Result
    {
        expire()
        return try replica.read(body)
    }

    /// Removes the entries that are due and waits for the next.
    func expire() {
        let now = clock.now()
        let isDue = replica.read { state in state.nextExpiry().map { $0 <= now } ?? false }
        if isDue { _ = try? record(.expire) }
    }

    /// Sets the timer to the earliest deadline, so that watches see an expiry without a read.
    private func schedule(_ instant: BootInstant?) {
        guard let instant else { return }
        timer.set(to: instant, by: clock, on: executor) { [weak self] () throws(SharedCoreError) in
            self?.expire()
            return self?.replica.read { $0.nextExpiry() }
        }
    }
}
