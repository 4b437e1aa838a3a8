internal import CoreAPI
internal import FoundationEssentials
internal import GRDB
internal import LogBackend
internal import Synchronization

/// A log in a table: the database's write lock decides which append comes first.
final class TableLog: SharedLog {
    /// SQLite has no way to wake another process, so a participant that waits polls.
    static let pollInterval = Duration.milliseconds(10)
    private static let version = 2

    private let path: String
    /// Nil once the log is closed. The last call that uses the database closes it.
    private let pool: Mutex<DatabasePool?>

    private init(path: String, pool: DatabasePool) {
        self.path = path
        self.pool = Mutex(pool)
    }

    /// Opens a database, which is made when there is none.
    static func open(path: String) async throws(SharedCoreError) -> TableLog {
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            configuration.prepareDatabase { database in try database.execute(sql: "PRAGMA synchronous = NORMAL") }
            let pool = try DatabasePool(path: path, configuration: configuration)
            try await pool.write(prepare)
            return TableLog(path: path, pool: pool)
        } catch {
            throw SharedCoreError(error, at: path)
        }
    }

    /// Makes the tables, or checks whether they are ours.
    private static func prepare(_ database: Database) throws {
        guard try isEmpty(database) else { return try checkVersion(of: database) }
        try database.execute(
            sql: """
                CREATE TABLE record (position INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
                CREATE TABLE part (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
                CREATE TABLE start (id INTEGER PRIMARY KEY CHECK (id = 0), position INTEGER NOT NULL);
                INSERT INTO start VALUES (0, 0);
                PRAGMA user_version = \(version);
                """)
    }

    /// Checks that the tables are there and ours.
    static func validate(_ database: Database) throws {
        guard try !isEmpty(database) else {
            throw SharedCoreError(.unavailable, "No participant has made its tables yet.", at: "database")
        }
        try checkVersion(of: database)
    }

    private static func isEmpty(_ database: Database) throws -> Bool {
        try !(Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master)") ?? false)
    }

    private static func checkVersion(of database: Database) throws {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found == version else {
            throw SharedCoreError(
                .incompatible, "The tables have version \(found), not \(version). Name another file.", at: "database")
        }
    }

    func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool {
        try await calling { pool in
            try await pool.write { database in
                guard try Self.end(of: database) == position else { return false }
                try database.execute(
                    sql: "INSERT INTO record VALUES (?, ?)", arguments: [Int64(position), Data(record)])
                return true
            }
        }
    }

    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        try await calling { pool in
            try await pool.read { database in try Self.slice(of: database, from: position, limit: limit) }
        }
    }

    /// Reads the log from a position, in the caller's transaction.
    static func slice(of database: Database, from position: UInt64, limit: Int) throws -> LogSlice {
        let start = try start(of: database)
        let parts = try position < start ? bytes("SELECT bytes FROM part ORDER BY number", in: database) : nil
        return LogSlice(
            start: start, snapshot: parts,
            records: try bytes(
                "SELECT bytes FROM record WHERE position >= ? ORDER BY position LIMIT ?", in: database,
                [Int64(position), limit]))
    }

    func wait(after position: UInt64) async throws(SharedCoreError) {
        try await calling { pool in
            while try await pool.read(Self.end) <= position { try await Task.sleep(for: Self.pollInterval) }
        }
    }

    func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) {
        try await calling { pool in
            try await pool.write { database in
                guard try Self.start(of: database) < position else { return }
                try database.execute(sql: "DELETE FROM record WHERE position < ?", arguments: [Int64(position)])
                try database.execute(sql: "DELETE FROM part")
                for (number, part) in snapshot.enumerated() {
                    try database.execute(sql: "INSERT INTO part VALUES (?, ?)", arguments: [number, Data(part)])
                }
                try database.execute(sql: "UPDATE start SET position = ?", arguments: [Int64(position)])
            }
        }
    }

    func close() async { pool.withLock { $0 = nil } }

    private func calling<Result>(
        _ body: (DatabasePool) async throws -> Result
    ) async throws(SharedCoreError) -> Result {
        guard let pool = pool.withLock({ $0 }) else {
            throw SharedCoreError(.closed, "The log is closed.", at: path)
        }
        do { return try await body(pool) } catch { throw SharedCoreError(error, at: path) }
    }

    /// The position of the first record that is kept.
    private static func start(of database: Database) throws -> UInt64 {
        guard let start = try Int64.fetchOne(database, sql: "SELECT position FROM start") else {
            throw SharedCoreError(.corrupt, "The database does not say where its log begins.", at: "start")
        }
        return UInt64(start)
    }

    /// The position of the next record.
    private static func end(of database: Database) throws -> UInt64 {
        if let last = try Int64.fetchOne(database, sql: "SELECT max(position) FROM record") { return UInt64(last) + 1 }
        return try start(of: database)
    }

    private static func bytes(
        _ query: String, in database: Database, _ arguments: StatementArguments = []
    ) throws -> [[UInt8]] {
        try Data.fetchAll(database, sql: query, arguments: arguments).map { Array($0) }
    }
}
