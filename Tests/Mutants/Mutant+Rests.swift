internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    /// The defects of the records of a Main that rests.
    static let rests: [Mutant] = [
        Mutant("loses rests", caughtBy: "C26") { damage in
            damage.losing("/ownership/rest")
        },
        Mutant("loses wakes", caughtBy: "C26") { damage in
            damage.losing("/ownership/wake")
        },
        Mutant("keeps the rests of the dead", caughtBy: "C26") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, .session) = operation, key.text.hasSuffix("/ownership/rest") else {
                    return operation
                }
                return .put(key, value, .persistent)
            }
        },
        Mutant("loses the repetition of a wake", caughtBy: "C26") { damage in
            damage.writing { transaction in
                let isRepeated = transaction.guards.contains {
                    if case .revision(let key, _) = $0 { key.text.hasSuffix("/ownership/wake") } else { false }
                }
                guard isRepeated else { return }
                transaction.operations.removeAll { $0.puts("/ownership/wake") }
            }
        },
        Mutant("keeps the ownership of a holder that is dead", caughtBy: "C26") { damage in
            damage.writing { transaction in
                let isTaken = transaction.guards.contains { $0.key.text.hasSuffix("/ownership/rest") }
                guard isTaken, !transaction.deletes("/ownership/rest") else { return }
                transaction.operations = transaction.operations.map { operation in
                    guard case .put(let key, let value, .session) = operation, key.text.hasSuffix("/ownership/owner")
                    else { return operation }
                    return .put(key, value, .persistent)
                }
            }
        },
        Mutant("lets the holder alone wake", caughtBy: "C26") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                var transaction = transaction
                if group.session.role.rawValue != "holder" {
                    transaction.operations.removeAll { $0.puts("/ownership/wake") }
                }
                return try await group.commit(transaction)
            }
        },
        Mutant("keeps a holder that has left", caughtBy: "C26") { damage in
            damage.operations { operation in
                if case .delete(let key) = operation, key.text.hasSuffix("/ownership/holder") { return nil }
                return operation
            }
        },
    ]
}
