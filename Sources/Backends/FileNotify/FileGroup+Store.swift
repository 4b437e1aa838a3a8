public import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

extension FileGroup: QuietWatching {
    public func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try handle.requireOpen()
        return try await fetching { () async throws(SharedCoreError) in try await self.find(key, consistency) }
    }

    /// Repeats the read while values are in a journal that was replaced before they were fetched.
    private func fetching<Value>(
        _ read: () async throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        while true {
            let generation = generation
            do throws(SharedCoreError) {
                return try await read()
            } catch {
                guard error.code == .corrupt else { throw error }
                try local.catchUp()
                guard self.generation != generation else { throw error }
            }
        }
    }

    private func find(_ key: Key, _ consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        // Try a synchronous read first, which saves the cost of an async call.
        if case .value(let stored) = try local.look(
            consistency,
            { state throws(SharedCoreError) in
                try self.entry(key, in: &state)
            })
        {
            return try stored?.entry(for: key)
        }
        let stored = try await local.read(consistency) { state throws(SharedCoreError) in
            try self.entry(key, in: &state)
        }
        return try stored?.entry(for: key)
    }

    @inline(__always)
    private func entry(_ key: Key, in state: inout StoreState) throws(SharedCoreError) -> StoredEntry? {
        try handle.requireSession(in: state)
        let stored = state.entry(key)
        if let stored, local.isReadOnly {
            var over = OverForReader(local)
            if over.contains(stored, in: state) { return nil }
        }
        return stored
    }

    public func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try handle.requireOpen()
        return try await fetching { () async throws(SharedCoreError) in try await self.select(prefix, consistency) }
    }

    private func select(
        _ prefix: KeyPrefix, _ consistency: ReadConsistency
    ) async throws(SharedCoreError) -> Snapshot {
        let (revision, stored) = try await read(consistency) { state in
            let selection = state.selection([prefix])
            guard self.local.isReadOnly else { return (state.revision, selection) }
            var over = OverForReader(self.local)
            return (state.revision, selection.filter { !over.contains($0.entry, in: state) })
        }
        return try Snapshot(revision: revision, stored: stored)
    }

    public func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try handle.requireOpen()
        let log: Int? = local.waitsForRoom(transaction) ? await local.makeRoom() : nil
        let written: Written
        do throws(SharedCoreError) {
            written = try await record(transaction)
        } catch {
            guard error.code == .storageFull, let log, await local.regainRoom(for: transaction, from: log)
            else {
                throw handle.applicationError(error)
            }
            do throws(SharedCoreError) { written = try await record(transaction) } catch {
                throw handle.applicationError(error)
            }
        }
        try await settle(written)
        return try written.outcome.get()
    }

    private func record(_ transaction: Transaction) async throws(SharedCoreError) -> Written {
        try await local.write(.commit(transaction, of: session.id), as: promised.durability)
    }

    public func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await watch(prefixes, from: start, isQuiet: false)
    }

    package func watchQuietly(
        _ prefixes: [KeyPrefix], from start: WatchStart
    ) async throws(SharedCoreError) -> Watch {
        try await watch(prefixes, from: start, isQuiet: true)
    }

    private func watch(
        _ prefixes: [KeyPrefix], from start: WatchStart, isQuiet: Bool
    ) async throws(SharedCoreError) -> Watch {
        let listener = try await listen(
            to: prefixes, prefixes.reduce(into: WakeChannels()) { $0.formUnion(WakeChannels(listeningTo: $1)) },
            isQuiet: isQuiet)
        return try handle.requireOpen(
            for: local.replica.watch(
                prefixes, from: start, for: session.id, isParticipant: !local.isReadOnly,
                catchUp: { [local] () throws(SharedCoreError) in try local.catchUpInPlace() },
                onCancel: { [local] in local.stopListening(listener) }))
    }

    public func sync() async throws(SharedCoreError) {
        try await read { _ in }
    }

    public func usage() async throws(SharedCoreError) -> StoreUsage? {
        try await read { state in state.usage }
    }

    public func sessions() async throws(SharedCoreError) -> [Session] {
        try await presentSessions()
    }

    public func sessions(among ids: Set<SessionID>) async throws(SharedCoreError) -> [Session] {
        try await presentSessions(among: ids)
    }

    private func presentSessions(among ids: Set<SessionID>? = nil) async throws(SharedCoreError) -> [Session] {
        try handle.requireOpen()
        try await local.endDead(among: ids)
        return try await read { state in
            // A reader cannot record the end of a session.
            let living = state.sessions(among: ids).filter { !self.local.isReadOnly || !self.local.isDead($0) }
            return living.map(\.session).sorted { $0.id < $1.id }
        }
    }

    // MARK: - Notifier

    public func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        let listener = try await listen(to: [], WakeChannels(of: name))
        return try handle.requireOpen(
            for: local.replica.observe(
                name, for: session.id, isParticipant: !local.isReadOnly,
                catchUp: { [local] () throws(SharedCoreError) in try local.catchUpInPlace() },
                onCancel: { [local] in local.stopListening(listener) }))
    }

    public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await read { state in state.topic(name) }
    }

    // MARK: - Private

    /// Begins to listen, unless the session is over.
    private func listen(
        to prefixes: [KeyPrefix], _ wakeChannels: WakeChannels, isQuiet: Bool = false
    ) async throws(SharedCoreError) -> Listening.ID {
        try handle.requireOpen()
        let listener = try await local.listen(to: prefixes, wakeChannels, isQuiet: isQuiet)
        do throws(SharedCoreError) {
            try local.replica.read { state throws(SharedCoreError) in try self.handle.requireSession(in: state) }
        } catch {
            local.stopListening(listener)
            throw error
        }
        return listener
    }

    private func read<Value: Sendable>(
        _ consistency: ReadConsistency = .linearizable, _ body: (inout StoreState) throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        try handle.requireOpen()
        return try await local.read(consistency) { state throws(SharedCoreError) in
            try self.handle.requireSession(in: state)
            return try body(&state)
        }
    }
}

/// Finds the entries that a read-only handle must leave out although it cannot record their end: expired entries, and
/// those that live with a session of an ended process.
private struct OverForReader {
    private let local: LocalGroup
    private let now: BootInstant
    /// Each check of a process costs a system call.
    private var dead: [SessionID: Bool] = [:]

    init(_ local: LocalGroup) {
        self.local = local
        now = local.clock.now()
    }

    mutating func contains(_ entry: StoredEntry, in state: borrowing StoreState) -> Bool {
        if let expiry = entry.expiry { return expiry <= now }
        guard entry.lifetime == .session, let holder = state.sessions[entry.origin] else { return false }
        if let known = dead[entry.origin] { return known }
        let isDead = local.isDead(holder)
        dead[entry.origin] = isDead
        return isDead
    }
}
