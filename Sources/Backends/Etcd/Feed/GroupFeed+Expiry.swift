#if Etcd
    internal import CoreAPI
    internal import Replica
    internal import StoreEngine

    extension GroupFeed {
        /// Removes the due entries, and waits until the replica reflects it.
        func expire() async throws(SharedCoreError) {
            while true {
                let now = clock.now()
                let due = replica.read { state -> [(key: Key, revision: Revision)] in
                    guard let next = state.nextExpiry(), next <= now,
                        case .expired(let keys)? = state.expiry(at: now)?.body
                    else { return [] }
                    return keys.prefix(Etcdserverpb_RequestOp.groupSize - 1).compactMap { key in
                        state.entry(key).map { (key, $0.revision) }
                    }
                }
                guard let first = due.first else { return }
                let removals = due.map { key, revision in
                    Etcdserverpb_RequestOp.transaction(
                        if: [.modified(keys.entry(key), at: revision.etcd)], then: [.delete(keys.entry(key))])
                }
                let head = HeadRecord(.expired, of: SessionID(rawValue: 0), at: Moment(now: clock))
                _ = try await cluster.transaction(
                    // Only one of the participants that try at the same time succeeds.
                    .make(
                        if: [.modified(keys.entry(first.key), at: first.revision.etcd)],
                        then: removals + [.put(keys.head, head.bytes)]),
                    timeout: settings.requestTimeout, at: "expiry")
                let isGone = try await wait { state in state.entry(first.key)?.revision != first.revision }
                guard isGone else {
                    throw SharedCoreError(.unavailable, "The cluster's updates do not arrive.", at: "expiry")
                }
            }
        }

        /// Schedules the removal of the entry that expires first.
        func scheduleExpiry() {
            guard let instant = replica.read({ $0.nextExpiry() }) else { return }
            timer.set(to: instant, by: clock) { [weak self] () async throws(SharedCoreError) -> BootInstant? in
                guard let self else { return nil }
                try await expire()
                return isEnded ? nil : replica.read { $0.nextExpiry() }
            }
        }
    }
#endif
