#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import Platform
    internal import StoreEngine

    extension EtcdGroup {
        /// Records a transaction in the order, and waits until the replica reflects it.
        func record(_ transaction: Transaction) async throws(SharedCoreError) -> RequestOutcome {
            let plan = TransactionPlan(transaction.operations)
            let guards = try GuardPlan(transaction.guards)
            let end = ContinuousClock.now.advanced(by: feed.settings.requestTimeout)
            var found: FoundKeys?
            while true {
                let delivery = GroupFeed.Delivery(session: session.id, number: leasedSession.nextDelivery())
                let generation = feed.expect(delivery)
                defer { feed.forget(delivery) }
                let request = request(
                    of: plan, guards, number: transaction.requestNumber, delivery: delivery.number, knowing: found)
                do throws(EtcdFailure) {
                    FailPoint.hit("etcd.beforeSend")
                    let answer = try await feed.cluster.attempt(timeout: .seconds(5)) { connection, options in
                        try await Etcdserverpb_KV.Client(wrapping: connection).txn(
                            request: ClientRequest(message: request), options: options)
                    }
                    FailPoint.hit("etcd.afterAnswer")
                    if answer.succeeded {
                        if let number = transaction.requestNumber { leasedSession.keep(number) }
                        return try await settle(commit(in: answer, of: plan))
                    }
                    let knowledge = FoundKeys(answer.responses)
                    found = knowledge
                    if let outcome = try await self.judge(knowledge, of: transaction, guards) {
                        // A refusal reports state of the cluster, so the replica must have reached that state before
                        // the caller gets it.
                        try await catchUp(with: answer)
                        return outcome
                    }
                } catch {
                    switch error {
                    case .refused(let refusal): throw refusal
                    case .leaseEnded: throw .sessionEnded(session.id)
                    case .compacted: throw error.harmless(at: "commit")
                    case .full:
                        // The server may have executed the request although it reports that its space is used up.
                        guard let commit = try await find(delivery, since: generation) else {
                            throw error.harmless(at: "commit")
                        }
                        if let number = transaction.requestNumber { leasedSession.keep(number) }
                        return .committed(commit)
                    case .unclear(let cause):
                        if let commit = try await resolve(delivery, since: generation, until: end, cause) {
                            if let number = transaction.requestNumber { leasedSession.keep(number) }
                            return .committed(commit)
                        }
                    }
                }
                guard ContinuousClock.now < end, !Task.isCancelled else {
                    throw SharedCoreError(.unavailable, "The cluster did not take the request in time.", at: "commit")
                }
            }
        }

        // MARK: - Sending

        private func request(
            of plan: TransactionPlan, _ guards: GuardPlan, number: UInt64?, delivery: UInt64, knowing found: FoundKeys?
        ) -> Etcdserverpb_TxnRequest {
            let keys = feed.keys
            let sessionKey = keys.session(leasedSession.lease)
            var compares: [Etcdserverpb_Compare] = [.modified(sessionKey, at: leasedSession.stamp)]
            var looks: [Etcdserverpb_RequestOp] = [
                .get(keys.head), .count(in: keys.all(.session)), .get(sessionKey),
            ]
            if let number {
                let later =
                    KeyBound(keys.result(leasedSession.lease, number))..<KeyBound(keys.resultsEnd(leasedSession.lease))
                compares.append(.empty(later))
                looks.append(.first(in: later))
            }
            compares += guards.compares(in: keys) { key in
                guard let found, let entry = found[keys.entry(key)], let again = found[keys.creation(key)] else {
                    return feed.madeAgain(key)
                }
                return again.modRevision > entry.createRevision ? Revision(etcd: again.modRevision) : nil
            }
            for key in guards.keys { looks += [.get(keys.entry(key)), .get(keys.creation(key))] }
            var extras: [NotificationName: UInt64] = [:]
            for name in plan.repeatedNames {
                let key = keys.extra(name)
                var known = feed.extra(name)
                if let pair = found?[key], pair.modRevision > known.revision {
                    known = ((try? PostRecord.number(pair.value)) ?? known.value, pair.modRevision)
                }
                extras[name] = known.value
                compares.append(.modified(key, at: known.revision))
                looks.append(.get(key))
            }
            return .make(
                if: compares, then: steps(of: plan, number: number, delivery: delivery, extras: extras), else: looks)
        }

        private func steps(
            of plan: TransactionPlan, number: UInt64?, delivery: UInt64, extras: [NotificationName: UInt64]
        ) -> [Etcdserverpb_RequestOp] {
            let keys = feed.keys
            func ending(changed: Bool) -> [Etcdserverpb_RequestOp] {
                var steps: [Etcdserverpb_RequestOp] = []
                if let number {
                    let result = ResultRecord.committed(changed: changed)
                    steps.append(
                        .put(keys.result(leasedSession.lease, number), result.bytes, lease: leasedSession.lease))
                    if let oldest = leasedSession.oldestKept, oldest < number {
                        steps.append(
                            .delete(
                                KeyBound(
                                    keys.result(leasedSession.lease, 0))..<KeyBound(
                                        keys.result(leasedSession.lease, oldest))))
                    }
                }
                let head = HeadRecord(
                    .committed, of: session.id, delivery: delivery, changed: changed, at: Moment(now: feed.clock))
                return steps + [.put(keys.head, head.bytes)]
            }
            let changes = changing(plan, extras: extras)
            guard !plan.alwaysChanges else { return Etcdserverpb_RequestOp.grouped(changes + ending(changed: true)) }
            let removed = plan.removed(in: keys)
            let nothing = number == nil ? [.get(keys.head)] : ending(changed: false)
            guard !removed.isEmpty else { return nothing }
            let all = Etcdserverpb_RequestOp.grouped(changes + ending(changed: true))
            // If the transaction removes too many keys to compare each first, remove them unconditionally. The answer
            // says how many keys were removed.
            guard removed.count <= Self.removalsLookedAt else { return all }
            return [.transaction(if: removed.map { .empty($0) }, then: nothing, else: all)]
        }

        /// The maximum number of keys of a removal for which the request first compares whether any of them exists. Their
        /// removals and the three steps that end a commit fill one group of steps.
        private static var removalsLookedAt: Int { Etcdserverpb_RequestOp.groupSize - 3 }

        private func changing(
            _ plan: TransactionPlan, extras: [NotificationName: UInt64]
        ) -> [Etcdserverpb_RequestOp] {
            let keys = feed.keys
            let kept = plan.steps.contains { if case .deletePrefix = $0 { true } else { false } } ? plan.putKeys : []
            return plan.steps.flatMap { step -> [Etcdserverpb_RequestOp] in
                switch step {
                case .put(let key, let value, let lifetime, let again):
                    let lifetime = lifetime.recordable
                    let lease = lifetime == .session ? leasedSession.lease : 0
                    let record = EntryRecord(
                        lifetime: lifetime, origin: session.id, written: Moment(now: feed.clock), value: value)
                    let put = Etcdserverpb_RequestOp.put(keys.entry(key), record.bytes, lease: lease)
                    return again && !EtcdDefect.keptCreation.isPresent
                        ? [put, .put(keys.creation(key), FoundationEssentials.Data())] : [put]
                case .delete(let key): return [.delete(keys.entry(key))]
                case .deletePrefix(let prefix): return keys.selected(by: prefix, without: kept).map { .delete($0) }
                case .post(let name, let count, let state):
                    let record = PostRecord(origin: session.id, count: count)
                    var steps = [Etcdserverpb_RequestOp.put(keys.name(name), record.bytes)]
                    if let state { steps.append(.put(keys.state(name), PostRecord.number(state))) }
                    if count > 1 {
                        steps.append(.put(keys.extra(name), PostRecord.number((extras[name] ?? 0) &+ (count - 1))))
                    }
                    return steps
                case .nothing: return []
                }
            }
        }

        // MARK: - Answers

        /// Returns the commit of an answer.
        private func commit(in answer: Etcdserverpb_TxnResponse, of plan: TransactionPlan) -> Commit {
            if plan.alwaysChanges { return Commit(revision: Revision(etcd: answer.header.revision), changed: true) }
            let removalCount = plan.removed(in: feed.keys).count
            if removalCount > Self.removalsLookedAt {
                // The first counts belong to the requested removals. The removals of old results follow.
                let removed = answer.responses.flatMap(\.removedCounts).prefix(removalCount)
                return Commit(revision: Revision(etcd: answer.header.revision), changed: removed.contains { $0 > 0 })
            }
            let inner = answer.responses.first
            // No key was to be removed, or none of them existed.
            let unchanged: [Etcdserverpb_ResponseOp]
            if case .responseTxn(let transaction)? = inner?.response {
                if !transaction.succeeded {
                    return Commit(revision: Revision(etcd: answer.header.revision), changed: true)
                }
                unchanged = transaction.responses
            } else {
                unchanged = answer.responses
            }
            let isRecorded = unchanged.contains { if case .responsePut? = $0.response { true } else { false } }
            let head = unchanged.first?.responseRange.kvs.first?.modRevision ?? 0
            return Commit(revision: Revision(etcd: isRecorded ? answer.header.revision : head), changed: false)
        }

        /// Waits until the replica reflects a commit.
        private func settle(_ commit: Commit) async throws(EtcdFailure) -> RequestOutcome {
            var cause: String?
            do throws(SharedCoreError) {
                if try await feed.reach(commit.revision) { return .committed(commit) }
            } catch {
                cause = "\(error)"
            }
            // The caller has closed the group, so no read can follow that would need the replica.
            if isClosing { return .committed(commit) }
            throw .refused(
                SharedCoreError(
                    .outcomeUnknown, "The commit took effect, but the cluster's updates of it do not arrive.",
                    at: "commit",
                    cause: cause))
        }

        /// Waits until the replica has reached the server's revision at which it refused a request.
        private func catchUp(with answer: Etcdserverpb_TxnResponse) async throws(EtcdFailure) {
            do throws(SharedCoreError) {
                _ = try await feed.catchUp(with: answer, until: .now.advanced(by: feed.settings.requestTimeout))
            } catch {
                // The session is over, or the user has closed the group.
                if isClosing { return }
                throw .refused(error)
            }
        }

        /// Searches the cluster's updates for the commit of a request that was answered with an error and may have
        /// taken effect.
        ///
        /// - Returns: The commit; nil when it is sure that there was none.
        private func find(
            _ delivery: GroupFeed.Delivery, since generation: Int
        ) async throws(SharedCoreError) -> Commit? {
            let unknown = SharedCoreError(
                .outcomeUnknown, "The cluster's space is used up, and it is not known whether the commit took effect.",
                at: "commit")
            do throws(SharedCoreError) { try await feed.catchUp() } catch { throw unknown }
            let (commit, isSure) = feed.commit(of: delivery, since: generation)
            guard commit != nil || isSure else { throw unknown }
            return commit
        }

        /// Returns the kept outcome of a numbered request.
        func keptResult(of number: UInt64) async throws(SharedCoreError) -> RequestOutcome? {
            let key = feed.keys.result(leasedSession.lease, number)
            let answer = try await feed.cluster.transaction(
                .make(then: [.get(feed.keys.head), .count(in: feed.keys.all(.session)), .get(key)]),
                timeout: feed.settings.requestTimeout, at: "commit")
            guard let kept = FoundKeys(answer.responses).all(.result, in: feed.keys).first else { return nil }
            let outcome = try result(of: number, in: kept)
            try await feed.catchUp(with: answer, until: .now.advanced(by: feed.settings.requestTimeout))
            return outcome
        }

        /// Determines why a request took no effect; returns nil if it must be repeated.
        private func judge(
            _ found: FoundKeys, of transaction: Transaction, _ guards: GuardPlan
        ) async throws(EtcdFailure) -> RequestOutcome? {
            do throws(SharedCoreError) {
                let keys = feed.keys
                guard let own = found[keys.session(leasedSession.lease)] else { throw .sessionEnded(session.id) }
                if let number = transaction.requestNumber, let kept = found.all(.result, in: keys).first {
                    return try result(of: number, in: kept)
                }
                if own.modRevision != leasedSession.stamp {
                    leasedSession.stamp = own.modRevision
                    return nil
                }
                guard let failure = try guards.firstFailure(on: found, in: keys) else { return nil }
                guard let number = transaction.requestNumber else { return .refused(failure) }
                return try await keepRefusal(failure, of: number)
            } catch {
                throw .refused(error)
            }
        }

        private func result(
            of number: UInt64, in kept: (name: [UInt8], pair: Mvccpb_KeyValue)
        ) throws(SharedCoreError) -> RequestOutcome {
            guard let found = Keyspace.number(ofResult: kept.name) else { throw .unreadable("a result's key") }
            guard found == number else {
                throw SharedCoreError(
                    .invalidArgument,
                    "Request \(number) comes after a later one and is not among the \(SessionState.keptResultCount) results "
                        + "that are kept. The numbers of a session rise.", at: "session \(session.id)")
            }
            return try ResultRecord(kept.pair.value).outcome(at: kept.pair.modRevision)
        }

        /// Keeps the refusal of a numbered request, so that a retry is refused as well; returns nil if another result
        /// was kept before.
        private func keepRefusal(
            _ failure: GuardFailure, of number: UInt64
        ) async throws(SharedCoreError) -> RequestOutcome? {
            let keys = feed.keys
            let key = keys.result(leasedSession.lease, number)
            let later = KeyBound(key)..<KeyBound(keys.resultsEnd(leasedSession.lease))
            let request = Etcdserverpb_TxnRequest.make(
                if: [.modified(keys.session(leasedSession.lease), at: leasedSession.stamp), .empty(later)],
                then: [.put(key, ResultRecord.refused(failure).bytes, lease: leasedSession.lease)])
            let answer = try await feed.cluster.transaction(
                request, timeout: feed.settings.requestTimeout, at: "commit")
            guard answer.succeeded else { return nil }
            leasedSession.keep(number)
            return .refused(failure)
        }

        /// Finds the outcome of a request without an answer.
        ///
        /// Writes the session's key again, which fences the request if it is still on its way. If the request took
        /// effect, it precedes that write in the order, and the replica has seen it.
        ///
        /// - Returns: The commit; nil when it is sure that there was none.
        private func resolve(
            _ delivery: GroupFeed.Delivery, since generation: Int, until end: ContinuousClock.Instant, _ cause: String
        ) async throws(SharedCoreError) -> Commit? {
            func unknown() -> SharedCoreError {
                SharedCoreError(
                    .outcomeUnknown, "It is not known whether the commit took effect: no answer came.", at: "commit",
                    cause: cause)
            }
            do throws(SharedCoreError) {
                let left = ContinuousClock.now.duration(to: end)
                if EtcdDefect.unfencedRetry.isPresent {
                    try await feed.catchUp()
                } else if let place = try await leasedSession.fence(in: feed, timeout: left) {
                    guard try await feed.reach(Revision(etcd: place)) else { throw unknown() }
                } else {
                    // The session is over, so none of its requests can take effect any more.
                    try await feed.catchUp()
                }
            } catch {
                throw unknown()
            }
            let (commit, isSure) = feed.commit(of: delivery, since: generation)
            if commit == nil, !isSure { throw unknown() }
            return commit
        }
    }
#endif
