internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    /// The defects of retries.
    static let requests: [Mutant] = [
        Mutant("remembers no refusal", caughtBy: "S12") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                guard transaction.requestNumber != nil else { return try await group.commit(transaction) }
                do throws(SharedCoreError) {
                    return try await group.commit(transaction)
                } catch {
                    guard error.code == .guardFailed else { throw error }
                    return try await group.commit(
                        Transaction(guards: transaction.guards, operations: transaction.operations))
                }
            }
        },
        Mutant("remembers no request that changed nothing", caughtBy: "S12") { damage in
            damage.writing { transaction in
                let writes = transaction.operations.contains { if case .delete = $0 { false } else { true } }
                if !writes { transaction.requestNumber = nil }
            }
        },
        Mutant("has the numbers of all sessions in one", caughtBy: "S12") { damage in
            let commits = Box<[UInt64: Commit]>([:])
            damage.beginning { commits.update { $0 = [:] } }
            damage.commit = { group, transaction throws(SharedCoreError) in
                guard let number = transaction.requestNumber else { return try await group.commit(transaction) }
                if let commit = commits.value[number] { return commit }
                let commit = try await group.commit(transaction)
                commits.update { $0[number] = commit }
                return commit
            }
        },
        Mutant("remembers the last 63 results", caughtBy: "S12") { damage in
            let last = Box<UInt64>(0)
            damage.beginning { last.update { $0 = 0 } }
            damage.commit = { group, transaction throws(SharedCoreError) in
                if let number = transaction.requestNumber {
                    let newest = last.update { last in
                        last = max(last, number)
                        return last
                    }
                    if number + 63 <= newest {
                        throw SharedCoreError(.invalidArgument, "This number is too old.", at: "request")
                    }
                }
                return try await group.commit(transaction)
            }
        },
        Mutant("applies a request whose number is too old", caughtBy: "S12") { damage in
            damage.commit = { group, transaction throws(SharedCoreError) in
                do throws(SharedCoreError) {
                    return try await group.commit(transaction)
                } catch {
                    guard error.code == .invalidArgument, transaction.requestNumber != nil else { throw error }
                    return try await group.commit(
                        Transaction(guards: transaction.guards, operations: transaction.operations))
                }
            }
        },
        Mutant("applies a retry that comes while the first try is on its way", caughtBy: "S12") { damage in
            let running = Box<[UInt64: Int]>([:])
            damage.commit = { group, transaction throws(SharedCoreError) in
                guard let number = transaction.requestNumber else { return try await group.commit(transaction) }
                var transaction = transaction
                let isAlone = running.update { running in
                    running[number, default: 0] += 1
                    return running[number] == 1
                }
                defer { running.update { $0[number, default: 0] -= 1 } }
                if !isAlone { transaction.requestNumber = nil }
                await Task.yield()
                return try await group.commit(transaction)
            }
        },
    ]
}
