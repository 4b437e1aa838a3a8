package import CoreAPI

/// A request for a place in the order of a group.
package indirect enum OrderRequest: Sendable {
    case join(SessionOpening)
    /// A transaction of a session. `delivery` is the number that a connection has given the request, see
    /// ``StoreState/decide(_:of:delivery:at:)``. `nameLimit` refuses a commit that creates a notification name if the
    /// group has that many names. It is checked when the commit gets its position in the order, because the names may
    /// change while the commit waits.
    case commit(Transaction, of: SessionID, delivery: UInt64? = nil, nameLimit: Int? = nil)
    /// Ends a session. Changes nothing if it has already ended.
    case end(SessionID)
    /// Records the expiries that are due, which every other request also does first.
    case expire
}

extension StoreState {
    /// The next step of executing a request.
    package enum Step: Sendable {
        /// An effect of expiries must be recorded and applied. Then the request is evaluated again.
        case expireFirst(Effect)
        /// The effect must be recorded and applied; then the outcome is valid.
        case record(Effect, RequestOutcome)
        /// There is nothing to record.
        case answer(RequestOutcome)
    }

    /// Evaluates a request at this position in the order, after the due expiries.
    ///
    /// - Throws: The errors of ``decide(_:of:delivery:at:)``; `forbidden` for a new name beyond a name limit.
    package mutating func next(for request: OrderRequest, at time: BootInstant) throws(SharedCoreError) -> Step {
        if let due = nextExpiry(), due <= time, let effect = expiry(at: time) { return .expireFirst(effect) }
        let effect: Effect
        switch request {
        case .commit(let transaction, let session, let delivery, let nameLimit):
            switch try decide(transaction, of: session, delivery: delivery, at: time) {
            case .record(let effect, let outcome):
                if let nameLimit { try requireNames(of: transaction, upTo: nameLimit) }
                return .record(effect, outcome)
            case .answer(let outcome): return .answer(outcome)
            }
        case .join(let description):
            effect = opening(description, at: time)
        case .end(let session):
            guard let ending = ending(session, at: time) else { return .answer(unchanged) }
            effect = ending
        case .expire:
            return .answer(unchanged)
        }
        return .record(effect, .committed(Commit(revision: effect.revision, changed: true)))
    }

    /// Refuses new notification names beyond a limit.
    private func requireNames(of transaction: Transaction, upTo limit: Int) throws(SharedCoreError) {
        let names = transaction.operations.compactMap { if case .post(let name, _) = $0 { name } else { nil } }
        let newNames = Set(names).filter { topic($0).count == 0 }
        guard !newNames.isEmpty, usage.nameCount + newNames.count > limit else { return }
        throw SharedCoreError(
            .forbidden,
            "The rights of this client's key are “post”, by which no new name is made in a group that has \(limit) "
                + "notification names.", at: "notifications")
    }

    private var unchanged: RequestOutcome { .committed(Commit(revision: revision, changed: false)) }
}

/// The outcome of a transaction.
package enum RequestOutcome: Hashable, Sendable {
    case committed(Commit)
    case refused(GuardFailure)

    /// Returns the commit, or throws the failure as the error for users.
    package func get() throws(SharedCoreError) -> Commit {
        switch self {
        case .committed(let commit): return commit
        case .refused(let failure): throw SharedCoreError(failure)
        }
    }
}
