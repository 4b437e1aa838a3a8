package import CoreAPI

extension StoreState {
    /// Applies the next effect of the order.
    package mutating func apply(_ effect: Effect) {
        revision = effect.revision
        effects?.append(effect)
        switch effect.body {
        case .sessionOpened(let opening):
            let id = SessionID(rawValue: effect.revision.rawValue)
            let session = Session(
                id: id, process: opening.process, role: opening.role, name: opening.name, openedAt: effect.time)
            enter(SessionState(session: session, backendData: opening.backendData))
        case .committed(let session, let number, let operations):
            let changed = apply(operations, of: session, at: effect.time)
            let commit = Commit(revision: effect.revision, changed: changed)
            if let number { keep(.committed(commit), for: session, number) }
            if let delivery = effect.delivery { change(session) { $0.keep(commit, of: delivery) } }
        case .refused(let session, let number, let failure):
            keep(.refused(failure), for: session, number)
        case .sessionEnded(let session):
            endSessions([session])
        case .expired(let keys):
            record(remove(keys.sorted(), as: .expired))
        case .restarted:
            restart(at: effect.time)
        }
    }

    /// Applies operations in order as one commit.
    private mutating func apply(_ operations: [Effect.Operation], of session: SessionID, at time: BootInstant) -> Bool {
        var changes = ChangeCollector()
        var posted = false
        for operation in operations {
            switch operation {
            case .put(let key, let value, let lifetime):
                changes.add(put(key, value, lifetime, of: session, at: time))
            case .delete(let key):
                if let change = remove(key, as: .deleted) { changes.add(change) }
            case .deletePrefix(let prefix):
                index.prepare(from: entries.keys)
                for change in remove(index.selection(of: prefix), as: .deleted) { changes.add(change) }
            case .post(let name, let state):
                post(name, state, of: session)
                posted = true
            }
        }
        record(changes.changes, of: session)
        return posted || !changes.changes.isEmpty
    }

    private mutating func put(
        _ key: Key, _ value: StoredValue, _ lifetime: Lifetime, of session: SessionID, at time: BootInstant
    ) -> StoredChange {
        let old = entries[key]
        var expiry: BootInstant?
        if case .expiring(let duration) = lifetime { expiry = time.advanced(by: duration) }
        let new = StoredEntry(
            value: value, revision: revision, creationRevision: old?.creationRevision ?? revision, lifetime: lifetime,
            origin: session, expiry: expiry)
        if let old { release(key, old) } else { index.insert(key) }
        insert(key, new)
        return StoredChange(key: key, kind: .put, old: old, new: new)
    }

    private mutating func remove(_ key: Key, as kind: Change.Kind) -> StoredChange? {
        let change = takeOut(key, as: kind)
        if change != nil { index.remove(CollectionOfOne(key)) }
        return change
    }

    /// Removes those of the given keys that exist. The keys must be in order.
    private mutating func remove(_ keys: [Key], as kind: Change.Kind) -> [StoredChange] {
        let changes = keys.compactMap { takeOut($0, as: kind) }
        index.remove(changes.map(\.key))
        return changes
    }

    /// Removes an entry from everything but the index.
    private mutating func takeOut(_ key: Key, as kind: Change.Kind) -> StoredChange? {
        guard let old = entries.removeValue(forKey: key) else { return nil }
        release(key, old)
        return StoredChange(key: key, kind: kind, old: old, new: nil)
    }

    /// Adds an entry to the dictionary and to all derived data.
    mutating func insert(_ key: Key, _ entry: StoredEntry) {
        entries[key] = entry
        byteCount += key.text.utf8.count + entry.value.count
        snapshotSize.add(entry, under: key)
        if entry.value.isExternal { externalCount += 1 }
        if entry.lifetime == .session {
            sessions[entry.origin]?.keys.insert(key)
            sessionKeys.insert(key)
        }
        if let expiry = entry.expiry {
            expiringCount += 1
            expiries.insert(ExpiryQueue.Deadline(instant: expiry, key: key))
            if expiries.count > 2 * expiringCount + 64 { dropFormerExpiries() }
        }
    }

    /// Removes an entry from all data derived from the dictionary.
    private mutating func release(_ key: Key, _ entry: StoredEntry) {
        byteCount -= key.text.utf8.count + entry.value.count
        snapshotSize.remove(entry, under: key)
        if entry.value.isExternal { externalCount -= 1 }
        if entry.lifetime == .session {
            sessions[entry.origin]?.keys.remove(key)
            sessionKeys.remove(CollectionOfOne(key))
        }
        if entry.expiry != nil { expiringCount -= 1 }
    }

    /// Drops the outdated deadlines of entries, in time proportional to the deadlines: there may be many more entries
    /// than deadlines, and an entry that is written repeatedly causes this at every 64th write.
    private mutating func dropFormerExpiries() {
        var current: [Key: BootInstant] = [:]
        for deadline in expiries.all where entries[deadline.key]?.expiry == deadline.instant {
            current[deadline.key] = deadline.instant
        }
        expiries.removeAll()
        for (key, instant) in current { expiries.insert(ExpiryQueue.Deadline(instant: instant, key: key)) }
    }

    private mutating func rebuildExpiries() {
        expiries.removeAll()
        for (key, entry) in entries {
            guard let expiry = entry.expiry else { continue }
            expiries.insert(ExpiryQueue.Deadline(instant: expiry, key: key))
        }
    }

    private mutating func post(_ name: NotificationName, _ state: UInt64?, of session: SessionID) {
        let known = topics[name]
        let firstCount = known?.firstCount ?? topics.forgotten.highestCount
        let topic = TopicState(
            state: state ?? known?.state ?? 0, count: (known?.count ?? firstCount) &+ 1, revision: revision,
            origin: session, firstCount: firstCount)
        enter(topic, under: name)
        guard known == nil, forgetsNames else { return }
        while let (name, topic) = topics.forget(before: revision) { snapshotSize.remove(topic, under: name) }
    }

    /// Adds a topic, or replaces the one of the same name.
    mutating func enter(_ topic: TopicState, under name: NotificationName) {
        if let known = topics.update(topic, under: name) { snapshotSize.remove(known, under: name) }
        snapshotSize.add(topic, under: name)
    }

    /// Adds a session, or replaces the one of the same id.
    mutating func enter(_ session: SessionState) {
        if let known = sessions.updateValue(session, forKey: session.session.id) { snapshotSize.remove(known) }
        snapshotSize.add(session)
    }

    /// Changes the state of a session, if it exists.
    mutating func change(_ id: SessionID, _ body: (inout SessionState) -> Void) {
        guard let index = sessions.index(forKey: id) else { return }
        snapshotSize.remove(sessions.values[index])
        body(&sessions.values[index])
        snapshotSize.add(sessions.values[index])
    }

    private mutating func keep(_ outcome: RequestOutcome, for session: SessionID, _ number: UInt64) {
        change(session) { $0.keep(SessionState.RequestResult(number: number, outcome: outcome)) }
    }

    private mutating func endSessions(_ ended: [SessionID]) {
        lastSessionEnd = revision
        var changes: [StoredChange] = []
        for session in ended.sorted() {
            guard let state = sessions.removeValue(forKey: session) else { continue }
            snapshotSize.remove(state)
            changes += remove(state.keys.sorted(), as: .sessionEnded)
        }
        record(changes)
    }

    /// Removes the entries of missing sessions, for example after a damaged file has lost the sessions: nothing would
    /// ever remove them.
    package mutating func removeOrphans() {
        let orphans = entries.filter { $0.value.lifetime == .session && sessions[$0.value.origin] == nil }
        _ = remove(orphans.keys.sorted(), as: .sessionEnded)
    }

    /// Removes ended sessions, the entries that lived with them, and expired entries, although their end is not
    /// recorded. For a reader's copy of the state: a reader records nothing, so the revision does not change.
    package mutating func removeOver(_ ended: [SessionID], at now: BootInstant) {
        endSessions(ended)
        var due: [Key] = []
        while let expiry = nextExpiry(), expiry <= now, let first = expiries.first {
            due.append(first.key)
            expiries.removeFirst()
        }
        record(remove(due.sorted(), as: .expired))
    }

    /// Begins a new boot of the machine: all sessions of the old one are over, and every expiring entry gets its full
    /// duration again, because the elapsed part is not known (contract S8).
    private mutating func restart(at time: BootInstant) {
        endSessions(Array(sessions.keys))
        for (key, entry) in entries {
            guard case .expiring(let duration) = entry.lifetime else { continue }
            let renewed = StoredEntry(
                value: entry.value, revision: entry.revision, creationRevision: entry.creationRevision,
                lifetime: entry.lifetime, origin: entry.origin, expiry: time.advanced(by: duration))
            entries[key] = renewed
            snapshotSize.remove(entry, under: key)
            snapshotSize.add(renewed, under: key)
        }
        rebuildExpiries()
    }

    /// Appends changes to the history, except those of keys that were absent before and are absent after.
    private mutating func record(_ all: [StoredChange], of session: SessionID? = nil) {
        let changes = all.contains { $0.isNothing } ? all.filter { !$0.isNothing } : all
        guard !changes.isEmpty, let origin = session ?? changes.first?.old?.origin else { return }
        history.append(CommittedChanges(revision: revision, origin: origin, changes: changes))
    }
}
