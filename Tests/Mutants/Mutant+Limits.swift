internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    /// The defects of limits and requirements.
    static let limits: [Mutant] = [
        Mutant("accepts one byte more in the store", caughtBy: "S10") { damage in
            damage.accepts = { limits in
                var limits = limits
                limits.storeByteCount += 1
                return limits
            }
        },
        Mutant("accepts one entry more than it declares", caughtBy: "S10") { damage in
            damage.accepts = { limits in
                var limits = limits
                limits.entryCount += 1
                return limits
            }
        },
        Mutant("refuses the last byte of a store", caughtBy: "S10") { damage in
            damage.accepts = { limits in
                var limits = limits
                limits.storeByteCount -= 1
                return limits
            }
        },
        Mutant("leaves participants no room in a full store", caughtBy: "S10") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                let limits = group.capabilities.limits
                if let usage = try await group.usage(),
                    usage.byteCount >= limits.storeByteCount || usage.entryCount >= limits.entryCount,
                    transaction.operations.contains(where: { if case .put(_, _, .session) = $0 { true } else { false } }
                    )
                {
                    throw SharedCoreError(.limitExceeded, "The store is full.", at: "store")
                }
                return try await group.commit(transaction)
            }
        },
        Mutant("leaves no room in a full store for what coordination writes by itself", caughtBy: "S10") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                let limits = group.capabilities.limits
                func isOfSession(_ operation: Transaction.Operation) -> Bool {
                    switch operation {
                    case .put(_, _, let lifetime): lifetime == .session
                    case .delete: true
                    case .deletePrefix, .post: false
                    }
                }
                if let usage = try await group.usage(),
                    usage.byteCount + 9 >= limits.storeByteCount || usage.entryCount >= limits.entryCount,
                    !transaction.operations.isEmpty, !transaction.operations.contains(where: isOfSession)
                {
                    throw SharedCoreError(.limitExceeded, "The store is full.", at: "store")
                }
                return try await group.commit(transaction)
            }
        },
        Mutant("lets messages have the room of participants", caughtBy: "S10") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await group.commit(transaction)
                } catch {
                    guard error.code == .limitExceeded, transaction.operations.count == 1,
                        case .put(let key, let value, _) = transaction.operations[0],
                        key.text.hasPrefix(".sharedcore/"), value.count <= 20
                    else { throw error }
                    return try await group.put(key, value, lifetime: .session)
                }
            }
        },
        Mutant("counts what has left the store", caughtBy: "S10") { damage in
            let total = Box(0)
            damage.beginning { total.update { $0 = 0 } }
            damage.commit = { group, transaction throws(SharedCoreError) in
                let size = transaction.operations.reduce(0) { sum, operation in
                    guard case .put(_, let value, _) = operation else { return sum }
                    return sum + value.count
                }
                guard total.value + size <= group.capabilities.limits.storeByteCount else {
                    throw SharedCoreError(.limitExceeded, "The store is full.", at: "commit")
                }
                let commit = try await group.commit(transaction)
                total.update { $0 += size }
                return commit
            }
        },
        Mutant("does what fits of a transaction that is too long", caughtBy: "S10") { damage in
            damage.writing { transaction in
                transaction.guards = Array(transaction.guards.prefix(65_000))
                transaction.operations = Array(transaction.operations.prefix(65_536 - transaction.guards.count))
            }
        },
        Mutant("forgets the posts of a name too many", caughtBy: "S10") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await group.commit(transaction)
                } catch {
                    var transaction = transaction
                    let count = transaction.operations.count
                    transaction.operations.removeAll { if case .post = $0 { true } else { false } }
                    guard error.code == .limitExceeded, transaction.operations.count < count else { throw error }
                    return try await group.commit(transaction)
                }
            }
        },
        Mutant("leaves a session behind where it refuses an opening", caughtBy: "E1") { damage in
            let left = Box<[MemoryGroup]>([])
            damage.open = { space, description, requirements throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await space.open("group", as: description, requirements: requirements)
                } catch {
                    let group = try await space.open("group", as: description)
                    left.update { $0.append(group) }
                    throw error
                }
            }
        },
    ]
}
