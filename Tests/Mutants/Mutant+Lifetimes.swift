internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    /// The defects of lifetimes.
    static let lifetimes: [Mutant] = [
        Mutant("rounds durations down", caughtBy: "S8") { damage in
            damage.lifetimes { lifetime in
                guard case .expiring(let duration) = lifetime, duration > .nanoseconds(1) else { return lifetime }
                let (seconds, attoseconds) = duration.components
                return .expiring(
                    after: Duration(
                        secondsComponent: seconds,
                        attosecondsComponent: attoseconds / 1_000_000_000 * 1_000_000_000))
            }
        },
        Mutant("takes a duration of nothing for the shortest", caughtBy: "S8") { damage in
            damage.lifetimes { lifetime in
                guard case .expiring(let duration) = lifetime, duration <= .zero else { return lifetime }
                return .expiring(after: .nanoseconds(1))
            }
        },
        Mutant("keeps the first lifetime of an entry", caughtBy: "S8") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                var transaction = transaction
                for (index, operation) in transaction.operations.enumerated() {
                    guard case .put(let key, let value, _) = operation,
                        let lifetime = try await group.get(key)?.lifetime
                    else { continue }
                    transaction.operations[index] = .put(key, value, lifetime)
                }
                return try await group.commit(transaction)
            }
        },
        Mutant("makes a new entry of what another session puts", caughtBy: "S8") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                var transaction = transaction
                for (index, operation) in transaction.operations.enumerated().reversed() {
                    guard case .put(let key, _, _) = operation, let entry = try await group.get(key),
                        entry.origin != group.session.id
                    else { continue }
                    transaction.operations.insert(.delete(key), at: index)
                }
                return try await group.commit(transaction)
            }
        },
        Mutant("takes the first lifetime that a transaction gives", caughtBy: "S8") { damage in
            damage.writing { transaction in
                var first: [Key: Lifetime] = [:]
                transaction.operations = transaction.operations.map { operation in
                    guard case .put(let key, let value, let lifetime) = operation else { return operation }
                    first[key] = first[key] ?? lifetime
                    return .put(key, value, first[key] ?? lifetime)
                }
            }
        },
        Mutant("ends what expires with its session", caughtBy: "S8") { damage in
            damage.close = { group in
                let entries = (try? await group.list())?.entries ?? []
                for entry in entries where entry.origin == group.session.id {
                    if case .expiring = entry.lifetime { _ = try? await group.delete(entry.key) }
                }
                await group.close()
            }
        },
        Mutant("ends what lives with a session in revisions of its own", caughtBy: "S8") { damage in
            damage.close = { group in
                let entries = (try? await group.list())?.entries ?? []
                for entry in entries where entry.origin == group.session.id && entry.lifetime == .session {
                    _ = try? await group.delete(entry.key)
                }
                await group.close()
            }
        },
        Mutant("tells an expiry to no watch", caughtBy: "S8") { damage in
            damage.changes { $0.kind == .expired ? nil : $0 }
        },
    ]
}

extension Damage {
    /// Changes every lifetime that is written.
    fileprivate mutating func lifetimes(_ change: @escaping @Sendable (Lifetime) -> Lifetime) {
        operations { operation in
            guard case .put(let key, let value, let lifetime) = operation else { return operation }
            return .put(key, value, change(lifetime))
        }
    }
}
