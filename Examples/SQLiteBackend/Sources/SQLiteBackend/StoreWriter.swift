internal import CoreAPI
internal import FoundationEssentials
internal import GRDB

/// What one transaction of the database does to the group. Everything it does has one revision.
struct StoreWriter {
    private let database: Database
    private let limits: Limits
    private let historyByteCount: Int
    private let now: BootInstant
    /// The revision of this commit.
    let revision: Revision
    private var byteCount: Int
    private var changes: [Change] = []
    private var posted = false

    init(_ database: Database, limits: Limits, historyByteCount: Int, now: BootInstant) throws {
        self.database = database
        self.limits = limits
        self.historyByteCount = historyByteCount
        self.now = now
        guard let row = try Row.fetchOne(database, sql: "SELECT revision, byteCount FROM state") else {
            throw SharedCoreError(.corrupt, "The database has no state.", at: "state")
        }
        revision = Revision(rawValue: UInt64(stored: row["revision"]) + 1)
        byteCount = row["byteCount"]
    }

    // MARK: - What happens

    /// Applies a transaction for a session.
    mutating func apply(_ transaction: Transaction, of session: SessionID) throws -> Commit {
        try expectAlive(session)
        try checkSize(of: transaction)
        for (index, condition) in transaction.guards.enumerated() {
            let found = try entry(condition.key)?.entry
            let holds =
                switch condition {
                case .absent: found == nil
                case .exists: found != nil
                case .revision(_, let revision): found?.revision == revision
                case .epoch(_, let epoch): found?.creationRevision == epoch
                }
            if !holds { throw SharedCoreError(GuardFailure(index: index, condition: condition, found: found)) }
        }
        let bytesBefore = byteCount
        for operation in transaction.operations {
            switch operation {
            case .put(let key, let value, let lifetime): try put(key, value, lifetime, of: session)
            case .delete(let key): try remove(key, as: .deleted)
            case .deletePrefix(let prefix):
                for found in try entries(prefix) { try remove(found.key, as: .deleted) }
            case .post(let name, let state): try post(name, state, of: session)
            }
        }
        if byteCount > limits.storeByteCount, byteCount > bytesBefore {
            throw SharedCoreError(
                .limitExceeded, "The store would hold \(byteCount) bytes; the limit is \(limits.storeByteCount).",
                at: "store")
        }
        return try finish(by: session)
    }

    /// Ends a session, with everything that lives with it.
    mutating func end(_ session: SessionID) throws {
        try database.execute(sql: "DELETE FROM session WHERE id = ?", arguments: [session.rawValue.stored])
        guard database.changesCount > 0 else { return }
        let keys = try Data.fetchAll(
            database, sql: "SELECT key FROM entry WHERE lifetime = 1 AND origin = ? ORDER BY key",
            arguments: [session.rawValue.stored])
        for key in keys { try remove(Key(String(decoding: key, as: UTF8.self)), as: .sessionEnded) }
        // An end is a place in the order also when nothing lived with it.
        posted = true
        _ = try finish(by: session)
    }

    /// Takes away what is due.
    mutating func expire() throws {
        let due = try Row.fetchAll(
            database, sql: "SELECT * FROM entry WHERE due <= ? ORDER BY key", arguments: [now.nanoseconds.stored]
        ).map { try StoredEntry($0).entry }
        for entry in due { try remove(entry.key, as: .expired) }
        if let first = due.first { _ = try finish(by: first.origin) }
    }

    /// Lets a participant join.
    mutating func join(_ description: SessionDescription, process: ProcessIdentity) throws -> Session {
        let session = Session(
            id: SessionID(rawValue: revision.rawValue), process: process, role: description.role,
            name: description.name, openedAt: now)
        try database.execute(
            sql: "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                session.id.rawValue.stored, session.role.rawValue, session.name, Data(process.bootID.bytes),
                process.pid,
                process.startTime.stored, now.nanoseconds.stored,
            ])
        posted = true
        _ = try finish(by: session.id)
        return session
    }

    func expectAlive(_ session: SessionID) throws {
        let isAlive = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM session WHERE id = ?)", arguments: [session.rawValue.stored])
        guard isAlive == true else {
            throw SharedCoreError(.sessionEnded, "The session has ended for the group.", at: "session \(session)")
        }
    }

    // MARK: - Operations

    private mutating func put(_ key: Key, _ value: [UInt8], _ lifetime: Lifetime, of session: SessionID) throws {
        if case .expiring(let duration) = lifetime, duration <= .zero {
            throw SharedCoreError(.invalidArgument, "An entry lives for longer than nothing.", at: key.text)
        }
        let old = try entry(key)?.entry
        let new = Entry(
            key: key, value: value, revision: revision, creationRevision: old?.creationRevision ?? revision,
            lifetime: lifetime, origin: session)
        var due: Int64?
        let (kind, duration) = StoredEntry.columns(lifetime)
        if case .expiring = lifetime {
            let (sum, overflows) = now.nanoseconds.stored.addingReportingOverflow(duration)
            due = overflows ? .max : sum
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                Data(key.text.utf8), Data(value), revision.rawValue.stored, new.creationRevision.rawValue.stored, kind,
                duration, due, session.rawValue.stored,
            ])
        byteCount += key.text.utf8.count + value.count - (old.map { key.text.utf8.count + $0.value.count } ?? 0)
        add(Change(key: key, kind: .put, old: old, new: new))
    }

    private mutating func remove(_ key: Key, as kind: Change.Kind) throws {
        guard let old = try entry(key)?.entry else { return }
        try database.execute(sql: "DELETE FROM entry WHERE key = ?", arguments: [Data(key.text.utf8)])
        byteCount -= key.text.utf8.count + old.value.count
        add(Change(key: key, kind: kind, old: old, new: nil))
    }

    private mutating func post(_ name: NotificationName, _ state: UInt64?, of session: SessionID) throws {
        let isKnown = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM topic WHERE name = ?)", arguments: [Data(name.text.utf8)])
        if isKnown != true, try Int.fetchOne(database, sql: "SELECT count(*) FROM topic") ?? 0 >= Self.maximumNameCount
        {
            throw SharedCoreError(
                .limitExceeded, "A group has at most \(Self.maximumNameCount) notification names.", at: name.text)
        }
        try database.execute(
            sql: """
                INSERT INTO topic VALUES (:name, :first, 1, :revision, :origin)
                ON CONFLICT (name) DO UPDATE
                SET state = coalesce(:state, state), count = count + 1, revision = :revision, origin = :origin
                """,
            arguments: [
                "name": Data(name.text.utf8), "first": (state ?? 0).stored, "state": state?.stored,
                "revision": revision.rawValue.stored, "origin": session.rawValue.stored,
            ])
        posted = true
    }

    /// What happened to one key in several operations is one change.
    private mutating func add(_ change: Change) {
        guard let index = changes.firstIndex(where: { $0.key == change.key }) else { return changes.append(change) }
        let first = changes.remove(at: index)
        guard first.old != nil || change.new != nil else { return }
        changes.append(Change(key: change.key, kind: change.kind, old: first.old, new: change.new))
    }

    // MARK: - The end

    private mutating func finish(by author: SessionID) throws -> Commit {
        let last = Revision(rawValue: revision.rawValue - 1)
        guard posted || !changes.isEmpty else { return Commit(revision: last, changed: false) }
        var added = 0
        for (place, change) in changes.enumerated() {
            added += 64 + change.key.text.utf8.count + (change.old?.value.count ?? 0) + (change.new?.value.count ?? 0)
            let columns: [(any DatabaseValueConvertible)?] =
                [
                    revision.rawValue.stored, place, author.rawValue.stored, Data(change.key.text.utf8),
                    change.kind.number,
                ] + StoredEntry.columns(change.old) + StoredEntry.columns(change.new)
            try database.execute(
                sql: "INSERT INTO change VALUES (\(columns.map { _ in "?" }.joined(separator: ",")))",
                arguments: StatementArguments(columns))
        }
        try database.execute(
            sql: "UPDATE state SET revision = ?, byteCount = ?, historyByteCount = historyByteCount + ?",
            arguments: [revision.rawValue.stored, byteCount, added])
        try trim()
        return Commit(revision: revision, changed: true)
    }

    /// Forgets the oldest changes when too many are kept, but never the last commit's. Whoever has not seen them is told
    /// so.
    private func trim() throws {
        guard let kept = try Int.fetchOne(database, sql: "SELECT historyByteCount FROM state"), kept > historyByteCount
        else { return }
        let newest = try Int64.fetchOne(
            database,
            sql: """
                SELECT revision FROM (
                    SELECT revision, sum(64 + length(key) + ifnull(length(oldValue), 0) + ifnull(length(newValue), 0))
                        OVER (ORDER BY revision DESC, place DESC) AS kept
                    FROM change)
                WHERE kept > ? AND revision < (SELECT max(revision) FROM change) ORDER BY revision DESC LIMIT 1
                """, arguments: [historyByteCount / 2])
        guard let newest else { return }
        try database.execute(sql: "DELETE FROM change WHERE revision <= ?", arguments: [newest])
        try database.execute(
            sql: """
                UPDATE state SET floor = ?, historyByteCount = (
                    SELECT ifnull(sum(64 + length(key) + ifnull(length(oldValue), 0) + ifnull(length(newValue), 0)), 0)
                    FROM change)
                """, arguments: [newest])
    }

    // MARK: - Reading

    /// What stands under a key. What is due was taken away before, in the same transaction of the database.
    private func entry(_ key: Key) throws -> StoredEntry? {
        try Row.fetchOne(database, sql: "SELECT * FROM entry WHERE key = ?", arguments: [Data(key.text.utf8)])
            .map(StoredEntry.init)
    }

    private func entries(_ prefix: KeyPrefix) throws -> [Entry] {
        try Self.entries(prefix, in: database, at: now)
    }

    /// The entry under a key; what is due is gone, also when nobody has taken it away yet.
    static func entry(_ key: Key, in database: Database, at now: BootInstant) throws -> StoredEntry? {
        try Row.fetchOne(
            database, sql: "SELECT * FROM entry WHERE key = ? AND (due IS NULL OR due > ?)",
            arguments: [Data(key.text.utf8), now.nanoseconds.stored]
        ).map(StoredEntry.init)
    }

    /// The entries that a prefix selects, in the order of their keys.
    static func entries(_ prefix: KeyPrefix, in database: Database, at now: BootInstant) throws -> [Entry] {
        var sql = "SELECT * FROM entry WHERE (due IS NULL OR due > ?)"
        var arguments: [any DatabaseValueConvertible] = [now.nanoseconds.stored]
        if !prefix.path.isEmpty {
            // Every selected key begins with the prefix, so it lies before the prefix with its last byte counted up.
            sql += " AND key >= ? AND key < ?"
            var end = Array(prefix.path.utf8)
            end[end.count - 1] += 1
            arguments += [Data(prefix.path.utf8), Data(end)]
        }
        return try Row.fetchAll(database, sql: sql + " ORDER BY key", arguments: StatementArguments(arguments))
            .map { try StoredEntry($0).entry }
            .filter { prefix.contains($0.key) }
    }

    private static let maximumNameCount = 65_536
    private static let maximumStepCount = 65_536

    private func checkSize(of transaction: Transaction) throws {
        let steps = transaction.guards.count + transaction.operations.count
        guard steps <= Self.maximumStepCount else {
            throw SharedCoreError(
                .limitExceeded, "A transaction has at most \(Self.maximumStepCount) steps, not \(steps).",
                at: "transaction")
        }
        var sum = 0
        for case .put(let key, let value, _) in transaction.operations {
            sum += key.text.utf8.count + value.count
            guard value.count <= limits.valueByteCount else {
                throw SharedCoreError(
                    .limitExceeded, "A value has at most \(limits.valueByteCount) bytes, not \(value.count).",
                    at: key.text)
            }
        }
        guard sum <= limits.transactionByteCount else {
            throw SharedCoreError(
                .limitExceeded, "A transaction has at most \(limits.transactionByteCount) bytes, not \(sum).",
                at: "transaction")
        }
    }
}

extension Change.Kind {
    /// The kind as its column has it.
    var number: Int64 {
        switch self {
        case .put: 0
        case .deleted: 1
        case .expired: 2
        case .sessionEnded: 3
        }
    }

    init(number: Int64) {
        self = [.put, .deleted, .expired, .sessionEnded][Int(number)]
    }
}
