internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

extension Mutant {
    static let watches: [Mutant] = [
        Mutant("begins a watch where its news are", caughtBy: "W1") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                guard case .now = start, let late = LateUpdates.of(group) else {
                    return try await group.watch(prefixes, from: start)
                }
                return try await group.watch(prefixes, from: .after(late.told.revision))
            }
        },
        Mutant("begins a watch with what its news have told", caughtBy: "W1") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                guard case .snapshot = start, let late = LateUpdates.of(group) else {
                    return try await group.watch(prefixes, from: start)
                }
                let inner = try await group.watch(prefixes, from: .after(late.told.revision))
                let entries = late.told.entries.filter { entry in prefixes.contains { $0.contains(entry.key) } }
                let snapshot = Box<WatchEvent?>(
                    .snapshot(Snapshot(revision: late.told.revision, entries: entries)))
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        let first = snapshot.update { snapshot in
                            defer { snapshot = nil }
                            return snapshot
                        }
                        if let first { return first }
                        return try await inner.next()
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("does nothing in `sync`", caughtBy: "W5") { damage in
            damage.sync = { _ in }
            damage.get = { group, key, consistency throws(SharedCoreError) in
                guard consistency == .causal, let late = LateUpdates.of(group) else {
                    return try await group.get(key, consistency: consistency)
                }
                return late.told.entries.first { $0.key == key }
            }
        },
        Mutant("goes on behind a gap in its news", caughtBy: "W3") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                let inner = try await group.watch(prefixes, from: start)
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        while let event = try await inner.next() {
                            // Neither the changes nor that it has lagged.
                            guard let late = LateUpdates.of(group), event.revision > late.told.revision,
                                late.end.map({ event.revision <= $0 }) ?? true
                            else { return event }
                        }
                        return nil
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("reports a deletion as nothing", caughtBy: "W1", "S1") { damage in
            damage.changes { $0.kind == .deleted ? nil : $0 }
        },
        Mutant("reports an expiry as a deletion", caughtBy: "S8") { damage in
            damage.changes { change in
                change.kind == .expired ? Change(key: change.key, kind: .deleted, old: change.old, new: nil) : change
            }
        },
        Mutant("does not know what stood there before", caughtBy: "W1") { damage in
            damage.changes { Change(key: $0.key, kind: $0.kind, old: nil, new: $0.new) }
        },
        Mutant("delivers the first change of a transaction only", caughtBy: "W1") { damage in
            damage.events(remembering: ()) { event, _ in
                guard case .changes(let set) = event else { return event }
                return .changes(
                    ChangeSet(revision: set.revision, origin: set.origin, changes: Array(set.changes.prefix(1))))
            }
        },
        Mutant("leaves out every hundredth change", caughtBy: "W1") { damage in
            damage.events(remembering: 0) { event, count in
                count += 1
                return count.isMultiple(of: 100) ? nil : event
            }
        },
        Mutant("delivers every fiftieth change twice", caughtBy: "W1") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                let inner = try await group.watch(prefixes, from: start)
                let memory = Box<(count: Int, again: WatchEvent?)>((0, nil))
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        let again = memory.update { memory in
                            defer { memory.again = nil }
                            return memory.again
                        }
                        if let again { return again }
                        guard let event = try await inner.next() else { return nil }
                        memory.update { memory in
                            memory.count += 1
                            if memory.count.isMultiple(of: 50) { memory.again = event }
                        }
                        return event
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("delivers an old change after a new one", caughtBy: "W1") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                let inner = try await group.watch(prefixes, from: start)
                let memory = Box<(count: Int, held: WatchEvent?)>((0, nil))
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        let held = memory.update { memory in
                            defer { memory.held = nil }
                            return memory.held
                        }
                        if let held { return held }
                        guard let event = try await inner.next() else { return nil }
                        let isHeldBack = memory.update { memory in
                            memory.count += 1
                            return memory.count.isMultiple(of: 20)
                        }
                        guard isHeldBack, let newer = try await inner.next() else { return event }
                        memory.update { $0.held = event }
                        return newer
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("begins to watch at the first request for an event", caughtBy: "W1") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                let inner = Box<Watch?>(nil)
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        if inner.value == nil {
                            let watch = try await group.watch(prefixes, from: start)
                            inner.update { $0 = watch }
                        }
                        return try await inner.value?.next()
                    },
                    cancel: { inner.value?.cancel() })
            }
        },
        Mutant("resumes one revision late", caughtBy: "W2") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                guard case .after = start else { return try await group.watch(prefixes, from: start) }
                let inner = try await group.watch(prefixes, from: start)
                let isFirst = Box(true)
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in
                        let skips = isFirst.update { isFirst in
                            defer { isFirst = false }
                            return isFirst
                        }
                        if skips, let event = try await inner.next() {
                            guard case .changes = event else { return event }
                        }
                        return try await inner.next()
                    },
                    cancel: { inner.cancel() })
            }
        },
        Mutant("starts a resumed watch over", caughtBy: "W2") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                if case .after = start { return try await group.watch(prefixes, from: .snapshot) }
                return try await group.watch(prefixes, from: start)
            }
        },
        Mutant("does not tell a consumer that has fallen behind", caughtBy: "W2", "W3") { damage in
            damage.events(remembering: ()) { event, _ in
                if case .lagged = event { return nil }
                return event
            }
        },
        Mutant("delivers unrequested changes", caughtBy: "W1") { damage in
            damage.watch = { group, _, start throws(SharedCoreError) in try await group.watch([.all], from: start) }
        },
        Mutant("goes on after a watch was cancelled", caughtBy: "W4") { damage in
            damage.watch = { group, prefixes, start throws(SharedCoreError) in
                let inner = try await group.watch(prefixes, from: start)
                return Watch(
                    next: { () async throws(SharedCoreError) -> WatchEvent? in try await inner.next() }, cancel: {})
            }
        },
    ]
}
