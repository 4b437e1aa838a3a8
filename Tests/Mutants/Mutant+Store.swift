internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    static let store: [Mutant] = [
        Mutant("takes an empty value for an absent key", caughtBy: "S1") { damage in
            damage.reading { $0.value.isEmpty ? nil : $0 }
        },
        Mutant("forgets which session wrote an entry", caughtBy: "S1") { damage in
            damage.reading { entry in
                Entry(
                    key: entry.key, value: entry.value, revision: entry.revision,
                    creationRevision: entry.creationRevision, lifetime: entry.lifetime, origin: SessionID(rawValue: 1))
            }
        },
        Mutant("gives the last revision as the creation's", caughtBy: "S1") { damage in
            damage.reading { entry in
                Entry(
                    key: entry.key, value: entry.value, revision: entry.revision, creationRevision: entry.revision,
                    lifetime: entry.lifetime, origin: entry.origin)
            }
        },
        Mutant("cuts values at 64 KiB", caughtBy: "S2") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, let lifetime) = operation else { return operation }
                return .put(key, Array(value.prefix(65_536)), lifetime)
            }
        },
        Mutant("ends a value at its first zero byte", caughtBy: "S2") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, let lifetime) = operation else { return operation }
                return .put(key, Array(value.prefix { $0 != 0 }), lifetime)
            }
        },
        Mutant("takes keys that differ in case for one", caughtBy: "S2") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, let lifetime) = operation,
                    let lower = try? Key(key.text.lowercased())
                else { return operation }
                return .put(lower, value, lifetime)
            }
        },
        Mutant("accepts one byte more than it declares", caughtBy: "S2", "S10") { damage in
            damage.accepts = { limits in
                var limits = limits
                limits.valueByteCount += 1
                limits.transactionByteCount += 1
                return limits
            }
        },
        Mutant("says that a deletion of nothing changed something", caughtBy: "S7") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                Commit(revision: try await group.commit(transaction).revision, changed: true)
            }
        },
        Mutant("gives every commit the revision of the first", caughtBy: "S3") { damage in
            let first = Box<Revision?>(nil)
            damage.commit = { group, transaction throws(SharedCoreError) in
                let commit = try await group.commit(transaction)
                let revision = first.update { first in
                    first = first ?? commit.revision
                    return first ?? commit.revision
                }
                return Commit(revision: revision, changed: commit.changed)
            }
        },
        Mutant("selects by text, not by path", caughtBy: "S4") { damage in
            damage.list = { group, prefix, consistency throws(SharedCoreError) in
                let all = try await group.list(.all, consistency: consistency)
                let text = prefix.path
                return Snapshot(revision: all.revision, entries: all.entries.filter { $0.key.text.hasPrefix(text) })
            }
        },
        Mutant("lists in the order of insertion", caughtBy: "S4", "S2") { damage in
            damage.list = { group, prefix, consistency throws(SharedCoreError) in
                let snapshot = try await group.list(prefix, consistency: consistency)
                return Snapshot(
                    revision: snapshot.revision,
                    entries: snapshot.entries.sorted { $0.creationRevision < $1.creationRevision })
            }
        },
        Mutant("answers from what it read last, three times of four", caughtBy: "S4") { damage in
            let seen = Box<[SessionID: [Key: (entry: Entry?, uses: Int)]]>([:])
            damage.get = { group, key, consistency throws(SharedCoreError) in
                if let known = seen.value[group.session.id]?[key], known.uses < 3 {
                    seen.update { $0[group.session.id]?[key]?.uses += 1 }
                    return known.entry
                }
                let entry = try await group.get(key, consistency: consistency)
                seen.update { $0[group.session.id, default: [:]][key] = (entry, 0) }
                return entry
            }
        },
        Mutant("commits a transaction in pieces", caughtBy: "S5") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                guard transaction.operations.count > 1, transaction.requestNumber == nil else {
                    return try await group.commit(transaction)
                }
                var last = Commit(revision: .zero, changed: false)
                var guards = transaction.guards
                for operation in transaction.operations {
                    last = try await group.commit(Transaction(guards: guards, operations: [operation]))
                    guards = []
                    await Task.yield()
                }
                return last
            }
        },
        Mutant("does not look at guards on a revision", caughtBy: "S5", "S6") { damage in
            damage.writing { transaction in
                transaction.guards.removeAll { if case .revision = $0 { true } else { false } }
            }
        },
        Mutant("lets a stale epoch write", caughtBy: "S5") { damage in
            damage.writing { transaction in
                transaction.guards.removeAll { if case .epoch = $0 { true } else { false } }
            }
        },
        Mutant("creates what is there already", caughtBy: "S6") { damage in
            damage.writing { transaction in
                transaction.guards.removeAll { if case .absent = $0 { true } else { false } }
            }
        },
        Mutant("checks guards first and writes later", caughtBy: "S6") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                _ = try await group.commit(Transaction(guards: transaction.guards))
                await Task.yield()
                return try await group.commit(
                    Transaction(operations: transaction.operations, requestNumber: transaction.requestNumber))
            }
        },
        Mutant("does not say what stands where a guard failed", caughtBy: "S5", "S6") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await group.commit(transaction)
                } catch {
                    guard let failure = error.guardFailure else { throw error }
                    throw SharedCoreError(GuardFailure(index: failure.index, condition: failure.condition, found: nil))
                }
            }
        },
        Mutant("overwrites in place of deleting", caughtBy: "S1", "S7") { damage in
            damage.operations { operation in
                guard case .delete(let key) = operation else { return operation }
                return .put(key, [], .persistent)
            }
        },
        Mutant("lets entries expire after half their time", caughtBy: "S8") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, .expiring(let duration)) = operation, duration > .zero
                else { return operation }
                return .put(key, value, .expiring(after: duration / 2))
            }
        },
        Mutant("never lets an entry expire", caughtBy: "S8") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, .expiring(let duration)) = operation, duration > .zero
                else { return operation }
                return .put(key, value, .persistent)
            }
        },
        Mutant("keeps what lives with a session", caughtBy: "S8", "L1") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, .session) = operation else { return operation }
                return .put(key, value, .persistent)
            }
        },
        Mutant("applies a retry again", caughtBy: "S12") { damage in
            damage.writing { $0.requestNumber = nil }
        },
        Mutant("refuses a retry whose guard would fail now", caughtBy: "S12") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                _ = try await group.commit(Transaction(guards: transaction.guards))
                return try await group.commit(transaction)
            }
        },
        Mutant("does not wake a waiting consumer when it is closed", caughtBy: "S13") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                let inner = try await group.watch(prefixes, from: start)
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        if let event = try await inner.next() { return event }
                        // The damage: it waits on, unless its task is cancelled.
                        do { try await Task.sleep(for: .seconds(86_400)) } catch { return nil }
                        return nil
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("goes on after it was closed", caughtBy: "S13") { damage in
            damage.close = { _ in }
        },
        Mutant("does what a cancelled task asks for", caughtBy: "S13") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                let result = await Task { () async -> Result<Commit, SharedCoreError> in
                    do throws(SharedCoreError) { return .success(try await group.commit(transaction)) } catch {
                        return .failure(error)
                    }
                }.value
                if Task.isCancelled { throw .cancelled("commit") }
                return try result.get()
            }
        },
        Mutant("has one space for all groups", caughtBy: "S14") { damage in
            damage.space = MemorySpace()
        },
        Mutant("promises each required capability", caughtBy: "S10") { damage in
            damage.open = { space, description, _ throws(SharedCoreError) in
                try await space.open("group", as: description)
            }
        },
    ]
}
