internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    static let notifications: [Mutant] = [
        Mutant("loses the state word", caughtBy: "N1") { damage in
            damage.post = { group, name, _ throws(SharedCoreError) in try await group.post(name, state: nil) }
        },
        Mutant("sets the state word to zero when none is given", caughtBy: "N1") { damage in
            damage.post = { group, name, state throws(SharedCoreError) in try await group.post(name, state: state ?? 0)
            }
        },
        Mutant("begins to observe at the first wait", caughtBy: "N2") { damage in
            damage.observe = { group, name throws(SharedCoreError) in
                let inner = Box<Observation?>(nil)
                return Observation(
                    next: { () async throws(SharedCoreError) -> NotificationDelivery? in
                        if inner.value == nil {
                            let observation = try await group.observe(name)
                            inner.update { $0 = observation }
                        }
                        return try await inner.value?.next()
                    },
                    cancel: { inner.value?.cancel() })
            }
        },
        Mutant("loses the last of two quick posts", caughtBy: "N3") { damage in
            damage.deliveries { _, delivery in
                guard delivery.count > 1 else { return delivery }
                return NotificationDelivery(
                    name: delivery.name, state: delivery.state, count: delivery.count - 1, revision: delivery.revision,
                    origin: delivery.origin)
            }
        },
        Mutant("delivers a state that is no longer the last", caughtBy: "N3") { damage in
            damage.deliveries { _, delivery in
                guard delivery.count > 1 else { return delivery }
                return NotificationDelivery(
                    name: delivery.name, state: delivery.state &- 1, count: delivery.count,
                    revision: delivery.revision, origin: delivery.origin)
            }
        },
        Mutant("wakes only the poster", caughtBy: "N4") { damage in
            damage.deliveries { group, delivery in delivery.origin == group.session.id ? delivery : nil }
        },
        Mutant("keeps one's own posts from oneself", caughtBy: "N4") { damage in
            damage.deliveries { group, delivery in delivery.origin == group.session.id ? nil : delivery }
        },
        Mutant("wakes an observer for what it did not ask", caughtBy: "N4") { damage in
            let observed = Box<Set<NotificationName>>([])
            damage.observe = { group, name throws(SharedCoreError) in
                observed.update { _ = $0.insert(name) }
                return try await group.observe(name)
            }
            damage.post = { group, name, state throws(SharedCoreError) in
                for other in observed.value where other != name { _ = try await group.post(other, state: nil) }
                return try await group.post(name, state: state)
            }
        },
        Mutant("forgets how many posts there were", caughtBy: "N1", "N5") { damage in
            damage.state = { group, name throws(SharedCoreError) in
                let state = try await group.state(of: name)
                return NotificationState(
                    state: state.state, count: min(state.count, 1), revision: state.revision, origin: state.origin)
            }
        },
        Mutant("lets a late observer wait for what has been", caughtBy: "N5") { damage in
            damage.observe = { group, name throws(SharedCoreError) in
                let inner = try await group.observe(name)
                let past = Box<NotificationState?>(try await group.state(of: name))
                return Observation(
                    next: { () async throws(SharedCoreError) -> NotificationDelivery? in
                        let replayed = past.update { past in
                            defer { past = nil }
                            return past
                        }
                        if let replayed, let origin = replayed.origin {
                            return NotificationDelivery(
                                name: name, state: replayed.state, count: replayed.count, revision: replayed.revision,
                                origin: origin)
                        }
                        return try await inner.next()
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("wakes before what was written is there", caughtBy: "N7") { damage in
            let waiting = Box<[SessionID: [Transaction]]>([:])
            damage.commit = { group, transaction throws(SharedCoreError) in
                guard transaction.guards.isEmpty, transaction.requestNumber == nil else {
                    return try await group.commit(transaction)
                }
                // Updates are one commit behind: each is made when the next one comes.
                let earlier = waiting.update { waiting in
                    defer { waiting[group.session.id] = [transaction] }
                    return waiting[group.session.id] ?? []
                }
                var last = Commit(revision: .zero, changed: true)
                for transaction in earlier { last = try await group.commit(transaction) }
                return last
            }
        },
    ]
}
