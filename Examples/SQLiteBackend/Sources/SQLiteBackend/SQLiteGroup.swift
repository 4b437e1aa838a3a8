public import CoreAPI
internal import FoundationEssentials
internal import GRDB
internal import Synchronization

/// A participant of a group that lives in one SQLite database.
///
/// The database's write lock is the order: each commit takes it, so commits stand one after the other, and a revision is
/// a number that each of them counts up. Reads are transactions of their own and see what had been committed before they
/// began.
///
/// What SQLite cannot give is not among its ``capabilities``: a death is noticed when somebody looks, a process that is
/// stopped inside a commit holds up all writers, and the results of earlier requests are not kept.
public final class SQLiteGroup: SharedGroup {
    public let session: Session
    public let capabilities: Capabilities

    let pool: DatabasePool
    let options: SQLiteGroupOptions
    let news: News
    private let isClosed = Mutex(false)

    init(_ pool: DatabasePool, session: Session, options: SQLiteGroupOptions) {
        self.pool = pool
        self.session = session
        self.options = options
        capabilities = options.capabilities
        let seen = Mutex<Int64>(-1)
        news = News { [pool, clock = options.clock, options] in
            let revision = try? await pool.write { database in
                // Somebody must take away what is due while anybody waits for it.
                var writer = try StoreWriter(
                    database, limits: options.limits, historyByteCount: options.historyByteCount, now: clock.now())
                if try Self.isSomethingDue(in: database, at: clock.now()) { try writer.expire() }
                return try Int64.fetchOne(database, sql: "SELECT revision FROM state")
            }
            return seen.withLock { seen in
                defer { seen = revision ?? seen }
                return revision != nil && seen != revision
            }
        }
    }

    deinit {
        news.end()
        guard !isClosed.withLock({ $0 }) else { return }
        Task.detached { [pool, session, options] in try? await Self.end(session.id, in: pool, options) }
    }

    // MARK: - Reading

    public func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await read { database, now in try StoreWriter.entry(key, in: database, at: now)?.entry }
    }

    public func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await read { database, now in try Self.snapshot([prefix], in: database, at: now) }
    }

    public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await read { database, _ in try Self.topic(name, in: database) }
    }

    public func sessions() async throws(SharedCoreError) -> [Session] {
        try await endTheDead()
        return try await read { database, _ in try Self.sessions(in: database) }
    }

    /// Every read of a watch looks into the database itself, so there is nothing to wait for.
    public func sync() async throws(SharedCoreError) {
        try await read { _, _ in }
    }

    // MARK: - Writing

    public func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        if transaction.requestNumber != nil {
            throw SharedCoreError(
                .unsupported, "This backend keeps no results of earlier requests.", at: options.path)
        }
        let session = session.id
        let commit = try await write { writer in try writer.apply(transaction, of: session) }
        news.ring()
        return commit
    }

    public func post(_ name: NotificationName, state: UInt64?) async throws(SharedCoreError) -> Revision {
        try await commit(Transaction(operations: [.post(name, state: state)])).revision
    }

    public func close() async {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        news.end()
        // In a task of its own: also a caller that is cancelled wants the session ended.
        await Task.detached { [pool, session, options] in try? await Self.end(session.id, in: pool, options) }.value
    }

    // MARK: - The way to the database

    func expectOpen() throws(SharedCoreError) {
        guard !isClosed.withLock({ $0 }) else {
            throw SharedCoreError(.closed, "The group was closed by its user.", at: options.path)
        }
    }

    /// Reads in one transaction, as long as the session lives.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database, BootInstant) throws -> Result
    ) async throws(SharedCoreError) -> Result {
        try expectOpen()
        let (clock, session) = (options.clock, session.id)
        do {
            return try await pool.read { database in
                let isAlive = try Bool.fetchOne(
                    database, sql: "SELECT EXISTS (SELECT 1 FROM session WHERE id = ?)",
                    arguments: [session.rawValue.stored])
                guard isAlive == true else {
                    throw SharedCoreError(
                        .sessionEnded, "The session has ended for the group.", at: "session \(session)")
                }
                return try body(database, clock.now())
            }
        } catch {
            // Closing ends the session while calls are on their way: to them the handle is closed.
            try expectOpen()
            throw SharedCoreError(error, at: options.path)
        }
    }

    private func write<Result: Sendable>(
        _ body: @escaping @Sendable (inout StoreWriter) throws -> Result
    ) async throws(SharedCoreError) -> Result {
        try expectOpen()
        do {
            return try await Self.write(to: pool, options, body)
        } catch {
            if (error as? SharedCoreError)?.code == .sessionEnded { try expectOpen() }
            throw SharedCoreError(error, at: options.path)
        }
    }

    /// Writes in one transaction, after what is due was taken away in the same one.
    static func write<Result: Sendable>(
        to pool: DatabasePool, _ options: SQLiteGroupOptions,
        _ body: @escaping @Sendable (inout StoreWriter) throws -> Result
    ) async throws -> Result {
        try await pool.write { database in
            func writer() throws -> StoreWriter {
                try StoreWriter(
                    database, limits: options.limits, historyByteCount: options.historyByteCount,
                    now: options.clock.now())
            }
            if try isSomethingDue(in: database, at: options.clock.now()) {
                var expiring = try writer()
                try expiring.expire()
            }
            var writing = try writer()
            return try body(&writing)
        }
    }

    private static func end(_ session: SessionID, in pool: DatabasePool, _ options: SQLiteGroupOptions) async throws {
        try await write(to: pool, options) { try $0.end(session) }
    }

    /// Ends the sessions of processes that are dead.
    private func endTheDead() async throws(SharedCoreError) {
        try expectOpen()
        let bootID = options.clock.bootID
        let dead = try await read { database, _ in
            try Self.sessions(in: database).filter { !$0.process.isAlive(in: bootID) }
        }
        for session in dead { try await write { try $0.end(session.id) } }
    }

    // MARK: - Rows

    static func snapshot(_ prefixes: [KeyPrefix], in database: Database, at now: BootInstant) throws -> Snapshot {
        var entries: [Key: Entry] = [:]
        for prefix in prefixes {
            for entry in try StoreWriter.entries(prefix, in: database, at: now) { entries[entry.key] = entry }
        }
        let revision = try Int64.fetchOne(database, sql: "SELECT revision FROM state") ?? 0
        return Snapshot(
            revision: Revision(rawValue: UInt64(stored: revision)), entries: entries.values.sorted { $0.key < $1.key })
    }

    static func topic(_ name: NotificationName, in database: Database) throws -> NotificationState {
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM topic WHERE name = ?", arguments: [Data(name.text.utf8)])
        guard let row else { return .never }
        return NotificationState(
            state: UInt64(stored: row["state"]), count: UInt64(stored: row["count"]),
            revision: Revision(rawValue: UInt64(stored: row["revision"])),
            origin: SessionID(rawValue: UInt64(stored: row["origin"])))
    }

    static func sessions(in database: Database) throws -> [Session] {
        try Row.fetchAll(database, sql: "SELECT * FROM session ORDER BY id").map { row in
            let boot: Data = row["boot"]
            return Session(
                id: SessionID(rawValue: UInt64(stored: row["id"])),
                process: ProcessIdentity(
                    bootID: BootID(bytes: Array(boot)), pid: row["pid"], startTime: UInt64(stored: row["startTime"])),
                role: SessionRole(rawValue: row["role"]), name: row["name"],
                openedAt: BootInstant(nanoseconds: UInt64(stored: row["openedAt"])))
        }
    }

    static func isSomethingDue(in database: Database, at now: BootInstant) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE due <= ?)", arguments: [now.nanoseconds.stored])
            ?? false
    }
}
