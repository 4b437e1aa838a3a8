package import CoreAPI

extension StoreState {
    /// The decision about a request.
    package enum Decision: Sendable {
        /// The effect must be recorded and applied; then the outcome is valid.
        case record(Effect, RequestOutcome)
        /// There is nothing to record.
        case answer(RequestOutcome)
    }

    /// The revision of the next commit.
    package var nextRevision: Revision {
        Revision(rawValue: revision.rawValue + 1)
    }

    /// Evaluates a transaction at this position in the order.
    ///
    /// - Parameters:
    ///   - transaction: The transaction to evaluate.
    ///   - session: The requesting session.
    ///   - delivery: The number that a connection gave the request, which makes it safe to send it again: if it has
    ///     taken effect, the answer is its first outcome. Unlike the caller's own number, it causes no record of a
    ///     request that changes nothing or is refused.
    ///   - time: The present time, on the clock by which entries expire.
    /// - Throws: `sessionEnded` when the session is over, `limitExceeded` when a size is too large, `invalidArgument`
    ///   when the request's number is lower than those of the kept results.
    package mutating func decide(
        _ transaction: Transaction, of session: SessionID, delivery: UInt64? = nil, at time: BootInstant
    ) throws(SharedCoreError) -> Decision {
        guard let state = sessions[session] else { throw .sessionEnded(session) }
        if let delivery, let first = try state.commit(of: delivery) { return .answer(.committed(first)) }
        if let number = transaction.requestNumber, let first = try state.result(of: number) { return .answer(first) }
        // The operation needs the index when it is applied. Prepare it here, in the original state: an index that is
        // prepared in a copy would be sorted again for each request.
        if transaction.operations.contains(where: \.isPrefixDeletion) { index.prepare(from: entries.keys) }
        try checkLimits(of: transaction)

        let outcome: RequestOutcome
        let body: Effect.Body
        if let failure = try firstFailure(of: transaction.guards) {
            outcome = .refused(failure)
            guard let number = transaction.requestNumber else { return .answer(outcome) }
            body = .refused(session, requestNumber: number, failure)
        } else {
            let changes = changes(transaction.operations)
            guard changes || transaction.requestNumber != nil else {
                return .answer(.committed(Commit(revision: revision, changed: false)))
            }
            outcome = .committed(Commit(revision: nextRevision, changed: changes))
            body = .committed(
                session, requestNumber: transaction.requestNumber,
                transaction.operations.map(Effect.Operation.init))
        }
        return .record(Effect(revision: nextRevision, time: time, body: body, delivery: delivery), outcome)
    }

    /// Returns the effect of a participant's joining. Its session's id is the effect's revision.
    package func opening(_ opening: SessionOpening, at time: BootInstant) -> Effect {
        Effect(revision: nextRevision, time: time, body: .sessionOpened(opening))
    }

    /// Returns the effect of a session's end; nil if it has ended already.
    package func ending(_ session: SessionID, at time: BootInstant) -> Effect? {
        guard sessions[session] != nil else { return nil }
        return Effect(revision: nextRevision, time: time, body: .sessionEnded(session))
    }

    /// Returns the effect of the due expiries; nil if there are none. No entry expires before its whole duration has
    /// passed.
    ///
    /// One effect has no more keys than fit into a record of the journal. Call again after applying it.
    package mutating func expiry(at time: BootInstant) -> Effect? {
        var due: Set<Key> = []
        var byteCount = 0
        while let first = expiries.first, first.instant <= time, byteCount < Self.expiryByteCount {
            if entries[first.key]?.expiry == first.instant, due.insert(first.key).inserted {
                byteCount += first.key.text.utf8.count
            }
            expiries.removeFirst()
        }
        guard !due.isEmpty else { return nil }
        // Insert the deadlines again, because recording the effect may fail. Applying the effect removes them.
        for key in due {
            guard let expiry = entries[key]?.expiry else { continue }
            expiries.insert(ExpiryQueue.Deadline(instant: expiry, key: key))
        }
        return Effect(revision: nextRevision, time: time, body: .expired(due.sorted()))
    }

    /// Returns the effect of a new boot of the machine. Its revision is above all that could have been handed out.
    package func restarting(in bootID: BootID, at time: BootInstant) -> Effect {
        Effect(
            revision: Revision(rawValue: revision.rawValue + 1 << 32), time: time, body: .restarted(bootID))
    }

    private func changes(_ operations: [Transaction.Operation]) -> Bool {
        operations.contains { operation in
            switch operation {
            case .put, .post: return true
            case .delete(let key): return entries[key] != nil
            case .deletePrefix(let prefix): return !index.selection(of: prefix).isEmpty
            }
        }
    }

    private func firstFailure(of guards: [Transaction.Guard]) throws(SharedCoreError) -> GuardFailure? {
        for (index, condition) in guards.enumerated() {
            let found = entries[condition.key]
            let holds =
                switch condition {
                case .absent: found == nil
                case .exists: found != nil
                case .revision(_, let revision): found?.revision == revision
                case .epoch(_, let epoch): found?.creationRevision == epoch
                }
            guard !holds else { continue }
            return GuardFailure(index: index, condition: condition, found: try found?.entry(for: condition.key))
        }
        return nil
    }
}

extension SessionState {
    /// Returns the commit of a delivery; nil if it has not taken effect.
    func commit(of delivery: UInt64) throws(SharedCoreError) -> Commit? {
        if let kept = deliveries.last(where: { $0.number == delivery }) { return kept.commit }
        guard deliveries.count == Self.keptResultCount, let lowest = deliveries.first, delivery < lowest.number
        else { return nil }
        // The delivery may have taken effect, and its outcome may have been dropped since.
        throw SharedCoreError(
            .invalidArgument,
            "Request \(delivery) of the connection comes after \(Self.keptResultCount) with higher numbers that took effect. "
                + "No more than that may be on their way.", at: "session \(session.id)")
    }

    /// Returns the kept result of a numbered request; nil for a new number.
    func result(of number: UInt64) throws(SharedCoreError) -> RequestOutcome? {
        if let kept = results.last(where: { $0.number == number }) { return kept.outcome }
        guard let last = results.last, number < last.number else { return nil }
        throw SharedCoreError(
            .invalidArgument,
            "Request \(number) comes after \(last.number) and is not among the \(Self.keptResultCount) results that are "
                + "kept. The numbers of a session rise.",
            at: "session \(session.id)")
    }
}

extension SharedCoreError {
    /// Returns the error for a request of a session that is over.
    package static func sessionEnded(_ session: SessionID) -> SharedCoreError {
        SharedCoreError(
            .sessionEnded, "The session has ended for the group. Open the group again.", at: "session \(session)")
    }
}
