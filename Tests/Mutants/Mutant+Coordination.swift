internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    /// The defects of the records of ownership, of waits and of messages: each is lost, kept, or not guarded.
    static let coordination: [Mutant] = [
        Mutant("does not tell how far the owner is", caughtBy: "C1") { damage in
            // The first record of an owner, at the acquisition, comes with the deletion of a request or without a guard
            // of an epoch.
            damage.writing { transaction in
                guard transaction.guards.contains(where: { $0.isEpoch(of: "ownership/owner") }) else { return }
                guard !transaction.deletes("ownership/owner") else { return }
                transaction.operations.removeAll { $0.puts("ownership/owner") }
            }
        },
        Mutant("lets all own at once", caughtBy: "C1") { damage in
            damage.writing { transaction in
                transaction.guards.removeAll { $0 == .absent(".sharedcore/ownership/owner") }
            }
        },
        Mutant("has one group for all", caughtBy: "C2") { damage in
            damage.space = MemorySpace()
        },
        Mutant("loses the waits of others", caughtBy: "C2", "C9") { damage in
            damage.losing("/expectations/")
        },
        Mutant("loses requests for hand-over", caughtBy: "C3", "C14", "C17", "C18") { damage in
            damage.losing("ownership/handover")
        },
        Mutant("forgets critical sections", caughtBy: "C3") { damage in
            damage.losing("ownership/critical")
        },
        Mutant("lets critical sections begin at any time", caughtBy: "C3") { damage in
            damage.writing { transaction in
                guard transaction.operations.contains(where: { $0.puts("ownership/critical") }) else { return }
                transaction.guards.removeAll { !$0.isEpoch(of: "ownership/owner") }
            }
        },
        Mutant("forgets activities", caughtBy: "C17") { damage in
            damage.losing("ownership/activities")
        },
        Mutant("lets activities begin at any time", caughtBy: "C17") { damage in
            damage.writing { transaction in
                guard transaction.operations.contains(where: { $0.puts("ownership/activities") }) else { return }
                transaction.guards.removeAll { !$0.isEpoch(of: "ownership/owner") }
            }
        },
        Mutant("loses calls", caughtBy: "C23", "C24") { damage in
            damage.losing("/calls/call/")
        },
        Mutant("keeps calls open", caughtBy: "C23") { damage in
            damage.operations { operation in
                guard case .put(let key, _, .expiring) = operation, key.text.contains("/calls/call/") else {
                    return operation
                }
                return nil
            }
        },
        Mutant("keeps batons that are over", caughtBy: "C25") { damage in
            damage.operations { operation in
                if case .delete(let key) = operation, key.text.hasSuffix("/ownership/baton") { return nil }
                return operation
            }
        },
        Mutant("loses batons", caughtBy: "C25") { damage in
            damage.losing("/ownership/baton")
        },
        Mutant("lets batons be applied that are over", caughtBy: "C25") { damage in
            damage.writing { transaction in
                transaction.guards.removeAll { $0.key.text.hasSuffix("/ownership/baton") }
            }
        },
        Mutant("loses commands to the holders of calls", caughtBy: "C24") { damage in
            damage.losing("/calls/command/")
        },
        Mutant("keeps the commands of the dead", caughtBy: "C24") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, .session) = operation, key.text.contains("/calls/command/") else {
                    return operation
                }
                return .put(key, value, .persistent)
            }
        },
        Mutant("lets superseded cores write", caughtBy: "C3", "C4") { damage in
            damage.writing { $0.guards.removeAll { $0.isEpoch(of: "ownership/owner") } }
        },
        Mutant("lets a session that ends take the owner with it", caughtBy: "C5") { damage in
            damage.close = { group in
                _ = try? await group.delete(".sharedcore/ownership/owner")
                await group.close()
            }
        },
        Mutant("keeps an owner that releases", caughtBy: "C8", "C9") { damage in
            damage.writing { transaction in
                guard !transaction.operations.contains(where: { $0.puts("ownership/owner") }) else { return }
                transaction.operations.removeAll { $0 == .delete(".sharedcore/ownership/owner") }
            }
        },
        Mutant("hears of no death", caughtBy: "C6", "C8", "C9", "C10") { damage in
            damage.kill = { $0.simulateStop() }
        },
        Mutant("takes a frozen one for dead", caughtBy: "C6") { damage in
            damage.stop = { $0.simulateKill() }
        },
        Mutant("loses challenges", caughtBy: "C6", "C8") { damage in
            damage.losing("ownership/challenge")
        },
        Mutant("loses the answers to challenges", caughtBy: "C2", "C14") { damage in
            damage.losing("ownership/answer")
        },
        Mutant("wakes no process", caughtBy: "C8") { damage in
            damage.changes { _ in nil }
        },
        Mutant("has lists of yesterday", caughtBy: "C13") { damage in
            let first = Box<[KeyPrefix: Snapshot]>([:])
            damage.beginning { first.update { $0 = [:] } }
            damage.list = { group, prefix, consistency throws(SharedCoreError) in
                let now = try await group.list(prefix, consistency: consistency)
                guard group.session.name == "deaf" else { return now }
                return first.update { first in
                    let old = first[prefix] ?? now
                    first[prefix] = old
                    return old
                }
            }
        },
        Mutant("drops messages", caughtBy: "C9") { damage in
            let turn = Box(0)
            damage.operations { operation in
                guard operation.puts("/inbox/", ending: "/m") else { return operation }
                return turn.update {
                    $0 += 1; return $0.isMultiple(of: 7)
                } ? nil : operation
            }
        },
        Mutant("lets several take one message", caughtBy: "C10") { damage in
            damage.operations { $0.puts("/inbox/", ending: "/t") ? nil : $0 }
        },
        Mutant("leaves a message that is updated in the hand that it is in", caughtBy: "C22") { damage in
            damage.writing { transaction in
                guard transaction.operations.contains(where: { $0.puts("/inbox/", ending: "/m") }),
                    transaction.guards.contains(where: { if case .revision = $0 { true } else { false } })
                else { return }
                transaction.operations.removeAll {
                    if case .delete(let key) = $0 {
                        key.text.contains("/inbox/") && key.text.hasSuffix("/t")
                    } else {
                        false
                    }
                }
            }
        },
        Mutant("remembers no acknowledgement", caughtBy: "C9", "C10", "C22") { damage in
            damage.writing { transaction in
                guard transaction.deletes("/inbox/") else { return }
                transaction.operations.removeAll { $0.puts("/inbox/", ending: "/a") }
            }
        },
        Mutant("stores nothing of what has nothing to show", caughtBy: "C11") { damage in
            damage.writing { transaction in
                guard !transaction.deletes("/inbox/") else { return }
                transaction.operations.removeAll { $0.puts("/inbox/", ending: "/a") }
            }
        },
        Mutant("refuses long names", caughtBy: "C12") { damage in
            damage.operations { operation in
                guard case .put(let key, _, _) = operation, key.text.contains("conference") else { return operation }
                return nil
            }
        },
        Mutant("loses what a message has beside its text", caughtBy: "C20") { damage in
            damage.operations { $0.puts("/inbox/", ending: "/d") ? nil : $0 }
        },
        Mutant("has one message for each call-id", caughtBy: "C21") { damage in
            damage.operations { operation in
                guard case .put(let key, _, _) = operation, key.text.contains("/inbox/") else { return operation }
                return key.text.utf8.count { $0 == UInt8(ascii: "/") } > 3 ? nil : operation
            }
        },
        Mutant("keeps a push in the hand of a Main that has ended", caughtBy: "P13") { damage in
            damage.operations { operation in
                guard operation.puts("/main-pushes/", ending: "/t"), case .put(let key, let value, _) = operation else {
                    return operation
                }
                return .put(key, value, .persistent)
            }
        },
        Mutant("loses every other entry of the timeline", caughtBy: "C15") { damage in
            let turn = Box(0)
            damage.operations { operation in
                guard operation.puts("/timeline/") else { return operation }
                return turn.update {
                    $0 += 1; return $0.isMultiple(of: 2)
                } ? nil : operation
            }
        },
        Mutant("never drops the oldest of the timeline", caughtBy: "C15") { damage in
            damage.writing { transaction in
                guard transaction.operations.contains(where: { $0.puts("timeline/checkpoint") }) else { return }
                transaction.operations = []
            }
        },
    ]
}

extension Damage {
    /// Loses puts to keys that contain a text.
    mutating func losing(_ text: String) {
        operations { $0.puts(text) ? nil : $0 }
    }
}

extension Transaction {
    func deletes(_ text: String) -> Bool {
        operations.contains { if case .delete(let key) = $0 { key.text.contains(text) } else { false } }
    }
}

extension Transaction.Operation {
    func puts(_ text: String, ending: String = "") -> Bool {
        if case .put(let key, _, _) = self { key.text.contains(text) && key.text.hasSuffix(ending) } else { false }
    }
}

extension Transaction.Guard {
    func isEpoch(of text: String) -> Bool {
        if case .epoch(let key, _) = self { key.text.contains(text) } else { false }
    }
}
