internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    /// The defects of closing and cancelling.
    static let closing: [Mutant] = [
        Mutant("calls a closed handle an ended session", caughtBy: "S13") { damage in
            damage.get = { group, key, consistency throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await group.get(key, consistency: consistency)
                } catch {
                    throw error.code == .closed
                        ? SharedCoreError(.sessionEnded, "The session has ended.", at: "get") : error
                }
            }
        },
        Mutant("calls what was done at the close `closed`", caughtBy: "S13") { damage in
            let closed = Box<Set<SessionID>>([])
            damage.beginning { closed.update { $0 = [] } }
            damage.commit = { group, transaction throws(SharedCoreError) in
                let commit = try await group.commit(transaction)
                await Task.yield()
                if closed.value.contains(group.session.id) {
                    throw SharedCoreError(.closed, "It is closed.", at: "commit")
                }
                return commit
            }
            damage.close = { group in
                closed.update { _ = $0.insert(group.session.id) }
                await group.close()
            }
        },
        Mutant("waits on when a wait at a watch is cancelled", caughtBy: "S13") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                let inner = try await group.watch(prefixes, from: start)
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        try await Task { () async -> Result<WatchEvent?, SharedCoreError> in
                            do throws(SharedCoreError) { return .success(try await inner.next()) } catch {
                                return .failure(error)
                            }
                        }.value.get()
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("swallows the event that meets a cancelled wait", caughtBy: "S13") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                let inner = try await group.watch(prefixes, from: start)
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        let event = try await inner.next()
                        return Task.isCancelled ? nil : event
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("swallows the post that meets a cancelled wait", caughtBy: "S13") { damage in
            damage.observe = { group, name throws(SharedCoreError) in
                let inner = try await group.observe(name)
                return Observation(
                    next: { () async throws(SharedCoreError) -> NotificationDelivery? in
                        let delivery = try await inner.next()
                        return Task.isCancelled ? nil : delivery
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("stays when a cancelled task closes it", caughtBy: "S13") { damage in
            damage.close = { group in
                if !Task.isCancelled { await group.close() }
            }
        },
        Mutant("does not wake an observer when it is closed", caughtBy: "S13") { damage in
            damage.observe = { group, name throws(SharedCoreError) in
                let inner = try await group.observe(name)
                return Observation(
                    next: { () async throws(SharedCoreError) -> NotificationDelivery? in
                        if let delivery = try await inner.next() { return delivery }
                        // The damage: it waits on, unless its task is cancelled.
                        do { try await Task.sleep(for: .seconds(86_400)) } catch { return nil }
                        return nil
                    },
                    cancel: { inner.cancel() })
            }
        },
    ]
}
