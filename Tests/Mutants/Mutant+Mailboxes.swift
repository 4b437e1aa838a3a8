internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    /// The defects that act only where mailboxes stand.
    static let mailboxes: [Mutant] = [
        Mutant("does not announce what is sent to a mailbox", caughtBy: "M3") { damage in
            damage.operations { operation in
                if case .post(let name, _) = operation, name.text.hasPrefix(place) { return nil }
                return operation
            }
        },
        Mutant("forgets that a queue was cleared", caughtBy: "M5") { damage in
            damage.operations { operation in
                if case .put(let key, _, _) = operation, key.isIn(place, ending: "/%cleared") { return nil }
                return operation
            }
        },
        Mutant("takes a message that another has taken", caughtBy: "M6") { damage in
            damage.reading { $0.key.isIn(place, ending: "/t") ? nil : $0 }
            damage.writing { transaction in
                transaction.guards.removeAll { condition in
                    if case .absent(let key) = condition { key.isIn(place, ending: "/t") } else { false }
                }
            }
        },
        Mutant("lets any session acknowledge", caughtBy: "M5", "M6") { damage in
            damage.writing { transaction in
                transaction.guards.removeAll { condition in
                    if case .epoch(let key, _) = condition { key.isIn(place, ending: "/t") } else { false }
                }
            }
        },
        Mutant("keeps a take for longer than its taker's session", caughtBy: "M6") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, .session) = operation, key.isIn(place, ending: "/t") else {
                    return operation
                }
                return .put(key, value, .persistent)
            }
        },
        Mutant("keeps a message for longer than its lifetime", caughtBy: "M2") { damage in
            damage.operations { operation in
                guard case .put(let key, let value, .expiring) = operation, key.isIn(place, ending: "/value") else {
                    return operation
                }
                return .put(key, value, .persistent)
            }
        },
        Mutant("judges the room in a queue without looking again", caughtBy: "M1") { damage in
            // Each send sees an empty queue.
            damage.list = { group, prefix, consistency throws(SharedCoreError) in
                let snapshot = try await group.list(prefix, consistency: consistency)
                guard prefix.path.hasPrefix(place) else { return snapshot }
                return Snapshot(revision: snapshot.revision, entries: Array(snapshot.entries.prefix(1)))
            }
        },
    ]

    private static let place = ".sharedcore/mailboxes/"
}

extension Key {
    fileprivate func isIn(_ place: String, ending: String) -> Bool {
        text.hasPrefix(place) && text.hasSuffix(ending)
    }
}
