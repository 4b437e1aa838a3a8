internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    /// The defects of reads and of the parts of a transaction.
    static let transactions: [Mutant] = [
        Mutant("goes back behind what was read, in every other causal read", caughtBy: "S4") { damage in
            let first = Box<Entry?>(nil)
            let turn = Box(0)
            damage.beginning { first.update { $0 = nil } }
            damage.get = { group, key, consistency throws(SharedCoreError) in
                let entry = try await group.get(key, consistency: consistency)
                guard consistency == .causal else { return entry }
                let isOld = turn.update { turn in
                    turn += 1
                    return turn.isMultiple(of: 2)
                }
                let old = first.update { first in
                    first = first ?? entry
                    return first
                }
                return isOld ? old : entry
            }
        },
        Mutant("takes a path without keys for a mistake", caughtBy: "S4") { damage in
            damage.list = { group, prefix, consistency throws(SharedCoreError) in
                let snapshot = try await group.list(prefix, consistency: consistency)
                guard snapshot.entries.isEmpty, prefix != .all else { return snapshot }
                throw SharedCoreError(.invalidArgument, "There is no such path.", at: prefix.path)
            }
        },
        Mutant("applies the operations of a transaction from behind", caughtBy: "S5") { damage in
            damage.writing { $0.operations.reverse() }
        },
        Mutant("names the last guard that failed", caughtBy: "S5") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await group.commit(transaction)
                } catch {
                    guard let failure = error.guardFailure else { throw error }
                    throw SharedCoreError(
                        GuardFailure(
                            index: transaction.guards.count - 1, condition: failure.condition, found: failure.found))
                }
            }
        },
        Mutant("uses a revision for nothing", caughtBy: "S5", "S7") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                let commit = try await group.commit(transaction)
                if commit.changed { return commit }
                return Commit(revision: try await group.post("nothing"), changed: false)
            }
        },
        Mutant("replaces in place what a transaction deletes and creates", caughtBy: "S7") { damage in
            damage.writing { transaction in
                let operations = transaction.operations
                transaction.operations.removeAll { operation in
                    guard case .delete(let deleted) = operation else { return false }
                    return operations.contains { other in
                        if case .put(deleted, _, _) = other { true } else { false }
                    }
                }
            }
        },
        Mutant("writes large values in two steps", caughtBy: "S9") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                if case .put(let key, let value, let lifetime)? = transaction.operations.first, value.count > 100,
                    transaction.guards.isEmpty
                {
                    try await group.put(key, Array(value.prefix(value.count / 2)), lifetime: lifetime)
                    await Task.yield()
                }
                return try await group.commit(transaction)
            }
        },
        Mutant("lets two creators win when they are quick", caughtBy: "S6") { damage in
            let created = Box<[Key: Int]>([:])
            damage.beginning { created.update { $0 = [:] } }
            damage.commit = { group, transaction throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await group.commit(transaction)
                } catch {
                    guard case .absent(let key)? = error.guardFailure?.condition,
                        created.update({ created in
                            created[key, default: 0] += 1
                            return created[key] == 1
                        })
                    else { throw error }
                    return try await group.commit(Transaction(operations: transaction.operations))
                }
            }
        },
    ]
}
