internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend

/// The calls of a broken backend in place of the memory backend's. Nothing is damaged at first.
struct Damage: Sendable {
    typealias Group = MemoryGroup

    var open: @Sendable (MemorySpace, SessionDescription, Requirements) async throws(SharedCoreError) -> MemoryGroup = {
        space, description, requirements throws(SharedCoreError) in
        try await space.open("group", as: description, requirements: requirements)
    }
    var openToRead: @Sendable (MemorySpace, SessionDescription) async throws(SharedCoreError) -> any SharedGroup = {
        space, description throws(SharedCoreError) in try await space.openToRead("group", as: description)
    }
    var get: @Sendable (Group, Key, ReadConsistency) async throws(SharedCoreError) -> Entry? = {
        group, key, consistency throws(SharedCoreError) in try await group.get(key, consistency: consistency)
    }
    var list: @Sendable (Group, KeyPrefix, ReadConsistency) async throws(SharedCoreError) -> Snapshot = {
        group, prefix, consistency throws(SharedCoreError) in try await group.list(prefix, consistency: consistency)
    }
    var commit: @Sendable (Group, Transaction) async throws(SharedCoreError) -> Commit = {
        group, transaction throws(SharedCoreError) in try await group.commit(transaction)
    }
    var watch: @Sendable (Group, [KeyPrefix], WatchStart) async throws(SharedCoreError) -> Watch = {
        group, prefixes, start throws(SharedCoreError) in try await group.watch(prefixes, from: start)
    }
    var post: @Sendable (Group, NotificationName, UInt64?) async throws(SharedCoreError) -> Revision = {
        group, name, state throws(SharedCoreError) in try await group.post(name, state: state)
    }
    var observe: @Sendable (Group, NotificationName) async throws(SharedCoreError) -> Observation = {
        group, name throws(SharedCoreError) in try await group.observe(name)
    }
    var state: @Sendable (Group, NotificationName) async throws(SharedCoreError) -> NotificationState = {
        group, name throws(SharedCoreError) in try await group.state(of: name)
    }
    var sync: @Sendable (Group) async throws(SharedCoreError) -> Void = { group throws(SharedCoreError) in
        try await group.sync()
    }
    var sessions: @Sendable (Group) async throws(SharedCoreError) -> [Session] = { group throws(SharedCoreError) in
        try await group.sessions()
    }
    var session: @Sendable (Group) -> Session = { $0.session }
    var lease: @Sendable (Group) -> SessionLease? = { $0.lease }
    /// The features that it promises, of those of the memory backend.
    var features: @Sendable (Set<Capability>) -> Set<Capability> = { $0 }
    var close: @Sendable (Group) async -> Void = { await $0.close() }
    var kill: @Sendable (Group) -> Void = { $0.simulateKill() }
    var stop: @Sendable (Group) -> Void = { $0.simulateStop() }
    /// The defect of the ``BatonPlace``; nil for a group that keeps no batons.
    var baton: BatonPlace.Defect?
    /// True if a handle's session ends when the last reference to the handle is released.
    var endsWhenLetGo = true
    /// The space of a new group; nil for one of its own.
    var space: MemorySpace?
    /// The sizes of the group in place of those that a case asks for.
    var accepts: @Sendable (Limits) -> Limits = { $0 }

    // MARK: - Pieces that damages are made of

    /// Changes each transaction before it is committed.
    mutating func writing(_ change: @escaping @Sendable (inout Transaction) -> Void) {
        commit = { group, transaction throws(SharedCoreError) in
            var transaction = transaction
            change(&transaction)
            return try await group.commit(transaction)
        }
    }

    /// Does something when the first handle of a group is opened, for damages that remember.
    mutating func beginning(_ begin: @escaping @Sendable () -> Void) {
        open = { space, description, requirements throws(SharedCoreError) in
            let group = try await space.open("group", as: description, requirements: requirements)
            if try await group.sessions().count == 1 { begin() }
            return group
        }
    }

    /// Changes every operation that is written.
    mutating func operations(
        _ change: @escaping @Sendable (Transaction.Operation) -> Transaction.Operation?
    ) {
        writing { $0.operations = $0.operations.compactMap(change) }
    }

    /// Changes every entry that is read.
    mutating func reading(_ change: @escaping @Sendable (Entry) -> Entry?) {
        get = { group, key, consistency throws(SharedCoreError) in
            try await group.get(key, consistency: consistency).flatMap(change)
        }
        list = { group, prefix, consistency throws(SharedCoreError) in
            let snapshot = try await group.list(prefix, consistency: consistency)
            return Snapshot(revision: snapshot.revision, entries: snapshot.entries.compactMap(change))
        }
    }

    /// Changes every event of a watch, with a memory of each watch's own; nil swallows it.
    mutating func events<Memory: Sendable>(
        remembering memory: Memory, _ change: @escaping @Sendable (WatchEvent, inout Memory) -> WatchEvent?
    ) {
        watch = { group, prefixes, start throws(SharedCoreError) in
            let inner = try await group.watch(prefixes, from: start)
            let box = Box(memory)
            return Watch(
                next: { () async throws(SharedCoreError) -> WatchEvent? in
                    while let event = try await inner.next() {
                        if let changed = box.update({ change(event, &$0) }) { return changed }
                    }
                    return nil
                },
                cancel: { inner.cancel() })
        }
    }

    /// Changes every change that a watch delivers; nil swallows it.
    mutating func changes(_ change: @escaping @Sendable (Change) -> Change?) {
        events(remembering: ()) { event, _ in
            guard case .changes(let set) = event else { return event }
            let kept = set.changes.compactMap(change)
            if kept.isEmpty { return nil }
            return .changes(ChangeSet(revision: set.revision, origin: set.origin, changes: kept))
        }
    }

    /// Changes every delivery of an observation; nil swallows it.
    mutating func deliveries(_ change: @escaping @Sendable (Group, NotificationDelivery) -> NotificationDelivery?) {
        observe = { group, name throws(SharedCoreError) in
            let inner = try await group.observe(name)
            return Observation(
                next: { () async throws(SharedCoreError) -> NotificationDelivery? in
                    while let delivery = try await inner.next() {
                        if let changed = change(group, delivery) { return changed }
                    }
                    return nil
                },
                cancel: { inner.cancel() })
        }
    }
}
