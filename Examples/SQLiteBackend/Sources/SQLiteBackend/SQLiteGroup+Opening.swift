public import CoreAPI
internal import FoundationEssentials
internal import GRDB

extension SQLiteGroup {
    /// Joins the group in a database, which is made when there is none.
    ///
    /// - Throws: `unsupported` for a requirement that it does not promise, `forbidden`, `corrupt`, `incompatible`, `system`.
    public static func open(
        path: String, as description: SessionDescription = SessionDescription(),
        options: SQLiteGroupOptions = SQLiteGroupOptions()
    ) async throws(SharedCoreError) -> SQLiteGroup {
        var options = options
        options.path = path
        try options.capabilities.satisfy(options.requirements)
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            configuration.prepareDatabase { database in try database.execute(sql: "PRAGMA synchronous = NORMAL") }
            let pool = try DatabasePool(path: path, configuration: configuration)
            let clock = options.clock
            try await pool.write { database in try prepare(database, for: clock.bootID, now: clock.now()) }
            try await endTheDead(in: pool, options)
            let process = ProcessIdentity.current(in: clock.bootID)
            let session = try await write(to: pool, options) { try $0.join(description, process: process) }
            return SQLiteGroup(pool, session: session, options: options)
        } catch {
            throw SharedCoreError(error, at: path)
        }
    }

    /// Makes the tables, or looks whether they are ours; begins a new run of the machine.
    private static func prepare(_ database: Database, for bootID: BootID, now: BootInstant) throws {
        if try !database.tableExists("state") {
            try Schema.create(in: database)
            try database.execute(
                sql: "INSERT INTO state VALUES (0, ?, ?, 0, 0, 0, 0)",
                arguments: [Schema.version, Data(bootID.bytes)])
            return
        }
        guard let row = try Row.fetchOne(database, sql: "SELECT version, boot FROM state") else {
            throw SharedCoreError(.corrupt, "The database has no state.", at: "state")
        }
        let version: Int = row["version"]
        guard version == Schema.version else {
            throw SharedCoreError(
                .incompatible, "The tables have version \(version), not \(Schema.version).", at: "state")
        }
        let boot: Data = row["boot"]
        guard boot != Data(bootID.bytes) else { return }
        // Nothing tells how much of each duration has passed, so each gets its whole one again.
        try database.execute(
            sql: "UPDATE entry SET due = min(?, 9223372036854775807 - duration) + duration WHERE due IS NOT NULL",
            arguments: [now.nanoseconds.stored])
        try database.execute(sql: "UPDATE state SET boot = ?", arguments: [Data(bootID.bytes)])
    }

    /// A newcomer believes nobody who is dead.
    private static func endTheDead(in pool: DatabasePool, _ options: SQLiteGroupOptions) async throws {
        let bootID = options.clock.bootID
        let dead = try await pool.read { database in
            try sessions(in: database).filter { !$0.process.isAlive(in: bootID) }
        }
        for session in dead { try await write(to: pool, options) { try $0.end(session.id) } }
    }
}
