internal import CoreAPI
internal import Dispatch
internal import LogBackend
internal import Platform

/// A log in tables: the lock of the log's row decides which append comes first, and `NOTIFY` tells the other participants.
///
/// Its calls block, so it runs on a queue of its own. Each call is one statement, which the server carries out whether this process is
/// stopped or not.
actor PostgresLog: SharedLog {
    private struct Waiter {
        let position: UInt64
        let continuation: CheckedContinuation<Result<Void, SharedCoreError>, Never>
    }

    /// The time after a connection was made in which a missing lock says nothing, and the pause between two looks at the
    /// locks. Others that lost theirs connect again within 5 s.
    static let grace = Duration.seconds(10)

    /// The longest record that a notification has: its payload is shorter than 8,000 bytes.
    private static let toldByteCount = 3900
    private static let toldCount = 256

    /// The failure that a record survives, by the server's settings.
    private(set) var durability: Durability?
    /// The time after which the locks can be trusted; nil if they could when they were last asked for.
    private(set) var doubt: Duration?
    private let executor = QueueExecutor()
    private let place: PostgresPlace
    private let readsOnly: Bool
    private let process: ProcessIdentity
    private var connection: PostgresConnection?
    private var connectedAt = ContinuousClock.now
    /// The log's number. A log that is made anew has another one.
    private var id: UInt64?
    /// The number of records ever, as far as is known here.
    private var end: UInt64 = 0
    /// The records that notifications brought and the group has not taken, by their positions.
    private var told: [UInt64: [UInt8]] = [:]
    private var locks: Set<UInt64> = []
    /// The number of appends in a row that came too late, 5 at most.
    private var losses = 0
    private var waiters: [UInt64: Waiter] = [:]
    private var lastWaiter: UInt64 = 0
    private var looking: Task<Void, Never>?
    private var isClosed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(_ place: PostgresPlace, toRead readsOnly: Bool, of process: ProcessIdentity) {
        (self.place, self.readsOnly, self.process) = (place, readsOnly, process)
    }

    /// Opens the log of a group, which is made when there is none.
    ///
    /// - Parameters:
    ///   - readsOnly: True to create, lock and listen to nothing.
    ///   - process: The process that the connection's lock identifies.
    static func open(
        _ place: PostgresPlace, toRead readsOnly: Bool = false, of process: ProcessIdentity = .current
    ) async throws(SharedCoreError) -> PostgresLog {
        let log = PostgresLog(place, toRead: readsOnly, of: process)
        try await log.begin()
        return log
    }

    private func begin() throws(SharedCoreError) {
        _ = try connected()
        guard !readsOnly else { return }
        looking = Task { [weak self] in
            while (try? await Task.sleep(for: Self.grace)) != nil, let log = self { await log.look() }
        }
    }

    func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool {
        receive()
        guard end <= position else { return false }
        let rows = try run(
            """
            WITH grown AS (UPDATE log SET length = length + 1 WHERE id = $1::int8 AND length = $2::int8
                    RETURNING id, channel),
                added AS (INSERT INTO record SELECT id, $2::int8, $3::bytea FROM grown RETURNING position)
            SELECT pg_notify(channel, position || CASE WHEN length($3::bytea) <= \(Self.toldByteCount)
                THEN ' \\x' || encode($3::bytea, 'hex') ELSE '' END) FROM grown, added
            """, [.text("\(position)"), .bytes(record)], whenLost: .outcomeUnknown)
        losses = rows.isEmpty ? min(losses + 1, 5) : 0
        // Many writers that try again at once would mostly overtake each other.
        if losses > 0 { try? await Task.sleep(for: .milliseconds(Int.random(in: 0...(1 << losses)))) }
        return !rows.isEmpty
    }

    func received(from position: UInt64) async -> [[UInt8]] {
        var records: [[UInt8]] = []
        while let record = told[position + UInt64(records.count)] { records.append(record) }
        let next = position + UInt64(records.count)
        told = told.filter { $0.key >= next }
        return records
    }

    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        // Notifications that arrive with the answer may announce records behind it.
        let known = end
        let rows = try run(
            """
            SELECT 0 AS kind, start AS number, length, NULL AS bytes FROM log WHERE id = $1::int8
            UNION ALL SELECT 1, part.number, 0, part.bytes FROM part JOIN log ON id = part.log AND part.position = start
                WHERE id = $1::int8 AND start > $2::int8
            UNION ALL (SELECT 2, position, 0, bytes FROM record WHERE log = $1::int8 AND position >= $2::int8
                ORDER BY position LIMIT $3::int8)
            ORDER BY kind, number
            """, [.text("\(position)"), .text("\(limit)")])
        let records = rows.filter { $0.integer(0) == 2 }
        guard let start = rows.first?.integer(1), let length = rows.first?.integer(2), position <= length,
            start <= length,
            records.count == min(UInt64(limit), length - max(position, start)), length >= known
        else { throw error(.corrupt, "The server has lost records.") }
        end = max(end, length)
        return LogSlice(
            start: start, snapshot: position < start ? rows.filter { $0.integer(0) == 1 }.map { $0.bytes(3) } : nil,
            records: records.map { $0.bytes(3) })
    }

    func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) {
        _ = try run(
            """
            WITH moved AS (UPDATE log SET start = $2::int8 WHERE id = $1::int8 AND start < $2::int8 RETURNING id),
                records AS (DELETE FROM record USING moved WHERE log = id AND position < $2::int8),
                parts AS (DELETE FROM part USING moved WHERE log = id AND position < $2::int8)
            INSERT INTO part SELECT id, $2::int8, number, bytes
                FROM moved, unnest($3::bytea[]) WITH ORDINALITY AS list (bytes, number)
            """, [.text("\(position)"), .list(snapshot)])
    }

    func wait(after position: UInt64) async throws(SharedCoreError) {
        _ = try connected()
        // A notification that came with an answer is in libpq's memory already, and makes the socket no longer readable.
        receive()
        guard connection != nil else { throw error(.unavailable, "The connection was lost.") }
        guard end <= position else { return }
        lastWaiter += 1
        let number = lastWaiter
        try await withTaskCancellationHandler {
            await withCheckedContinuation { waiters[number] = Waiter(position: position, continuation: $0) }
        } onCancel: {
            // It runs after the waiter was added: the handler and the body need the actor, and the body has it first.
            Task { await self.cancelWait(number) }
        }.get()
    }

    /// Returns the sessions without a lock of processes that cannot be seen from here. The group itself checks the
    /// processes that it can see.
    func ended(among sessions: [Session]) async throws(SharedCoreError) -> [SessionID]? {
        let unseen = sessions.filter { $0.process.liveness != .alive }
        guard !unseen.isEmpty else { return [] }
        try readLocks()
        return doubt == nil ? unseen.filter { !locks.contains($0.process.lock) }.map(\.id) : []
    }

    func close() async {
        isClosed = true
        looking?.cancel()
        endWaits(.failure(.closed(place.location)))
        guard let connection else { return }
        self.connection = nil
        await withCheckedContinuation { closed in connection.close { closed.resume() } }
    }

    // MARK: - Private

    private func error(_ code: SharedCoreError.Code, _ message: String) -> SharedCoreError {
        SharedCoreError(code, message, at: place.location)
    }

    private func cancelWait(_ number: UInt64) {
        endWaits(.failure(.cancelled(place.location))) { $0.key == number }
    }

    /// Runs a statement with the log's number before its values. A connection that was lost since the last call is replaced, unless the
    /// statement may have been carried out and may not be twice.
    private func run(
        _ statement: String, _ values: [PostgresConnection.Value], whenLost code: SharedCoreError.Code = .unavailable
    ) throws(SharedCoreError) -> [PostgresRow] {
        let isNew = connection == nil
        let connection = try connected()
        defer { receive() }
        do throws(SharedCoreError) {
            return try connection.run(statement, [.text("\(id ?? 0)")] + values, whenLost: code)
        } catch {
            guard connection.isLost, !isNew, error.code == .unavailable else { throw error }
        }
        receive()
        return try connected().run(statement, [.text("\(id ?? 0)")] + values, whenLost: code)
    }

    /// Takes what the server has told, and lets go of a lost connection.
    private func receive() {
        guard let connection else { return }
        for (position, record) in connection.takeNotifications() {
            end = max(end, position + 1)
            told[position] = record
        }
        // A reader that takes none, or one that is far behind, reads them.
        if told.count > Self.toldCount { told = [:] }
        endWaits(.success(())) { $0.value.position < end }
        guard connection.isLost else { return }
        self.connection = nil
        connection.close()
        endWaits(.failure(error(.unavailable, "The connection was lost.")))
    }

    private func endWaits(
        _ result: Result<Void, SharedCoreError>, where isMeant: ((key: UInt64, value: Waiter)) -> Bool = { _ in true }
    ) {
        for (number, waiter) in waiters where isMeant((number, waiter)) {
            waiters[number] = nil
            waiter.continuation.resume(returning: result)
        }
    }

    private func connected() throws(SharedCoreError) -> PostgresConnection {
        if let connection { return connection }
        guard !isClosed else { throw .closed(place.location) }
        let new = try PostgresConnection(to: place.server, at: place.location)
        do throws(SharedCoreError) { try prepare(new) } catch {
            new.close()
            throw error
        }
        new.observeInput(on: executor.queue) { [weak self] in self?.assumeIsolated { $0.receive() } }
        (connection, connectedAt) = (new, .now)
        return new
    }

    /// Finds or makes the log, then listens, takes the lock, and asks for the log's end: nothing is missed between the calls.
    private func prepare(_ new: PostgresConnection) throws(SharedCoreError) {
        let state = try new.run(Self.preparation, [.text(place.schema)])
        let found: Durability = state[0].integer(0) == 1 ? .disk : .process
        guard found >= durability ?? found else {
            throw error(.incompatible, "The server syncs no more, as it did when the group was opened.")
        }
        durability = found
        let absent = error(.unavailable, "There is no such group.")
        if state[0].integer(2) == 0 {
            guard !readsOnly else { throw absent }
            try new.run(script: Self.tables(in: place.schema, exists: state[0].integer(1) == 1))
        }
        let query = "SELECT id, format, channel FROM log WHERE name = $1::text"
        var logs = try new.run(query, [.text(place.group)])
        if logs.isEmpty, id == nil, !readsOnly {
            _ = try new.run("INSERT INTO log (name) VALUES ($1::text) ON CONFLICT DO NOTHING", [.text(place.group)])
            logs = try new.run(query, [.text(place.group)])
        }
        let present = logs.first?.integer(0)
        guard id == nil || id == present else {
            throw error(.corrupt, "The log was removed from the server.")
        }
        guard let present else { throw absent }
        guard logs[0].integer(1) == 1 else {
            throw error(.incompatible, "The tables are of another version. Name another schema.")
        }
        id = present
        guard !readsOnly else { return }
        try new.run(script: "LISTEN \"\(String(decoding: logs[0].bytes(2), as: UTF8.self))\"")
        let lock = try new.run(
            """
            SELECT length, pg_try_advisory_lock_shared(hashint8(id), $2::int4) FROM log WHERE id = $1::int8
            """, [.text("\(present)"), .text("\(Int32(truncatingIfNeeded: process.lock))")])
        guard let length = lock.first?.integer(0), lock[0].integer(1) == 1 else {
            throw error(.unavailable, "Another program holds the lock of this process.")
        }
        end = max(end, length)
        endWaits(.success(())) { $0.value.position < end }
    }

    /// Ends the waits where a lock is gone: a process that cannot be seen from here may have ended.
    private func look() {
        let (before, wasInDoubt) = (locks, doubt != nil)
        guard !waiters.isEmpty, (try? readLocks()) != nil else { return }
        if !locks.isSuperset(of: before) || wasInDoubt { endWaits(.success(())) }
    }

    private func readLocks() throws(SharedCoreError) {
        let rows = try run(
            """
            SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::int8, objid::int8
            FROM (SELECT 1) AS always LEFT JOIN pg_locks ON locktype = 'advisory' AND objsubid = 2
                AND classid::int8 = hashint8($1::int8)::int8 & 4294967295
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """, [])
        locks = Set(rows.compactMap { $0.integer(1) })
        var trusted = Duration.seconds(Int64(rows.first?.integer(0) ?? 0))
        // Others may still be on their way back from the loss that made this connection necessary, or that came before the first one.
        trusted = min(trusted, connectedAt.duration(to: .now))
        doubt = trusted < Self.grace ? Self.grace - trusted : nil
    }

    private static let preparation = """
        SELECT current_setting('fsync')::bool AND current_setting('full_page_writes')::bool,
            to_regnamespace(quote_ident($1::text)) IS NOT NULL, to_regclass(format('%I.part', $1::text)) IS NOT NULL,
            set_config('search_path', quote_ident($1::text), false),
            set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'local'), false)
        """

    /// Makes the tables. A channel has a random name, because the server lets every role listen and notify. One connection at a time does that, for `IF NOT EXISTS` fails where two do.
    private static func tables(in schema: String, exists: Bool) -> String {
        """
        SELECT pg_advisory_xact_lock(1936220515);
        \(exists ? "" : "CREATE SCHEMA IF NOT EXISTS \(schema);")
        CREATE TABLE IF NOT EXISTS log (
            name text PRIMARY KEY, id int8 NOT NULL UNIQUE DEFAULT (random() * 9e15)::int8, format int4 NOT NULL DEFAULT 1,
            channel text NOT NULL DEFAULT 'sharedcore_' || gen_random_uuid(), start int8 NOT NULL DEFAULT 0,
            length int8 NOT NULL DEFAULT 0);
        CREATE TABLE IF NOT EXISTS record (log int8, position int8, bytes bytea NOT NULL, PRIMARY KEY (log, position));
        CREATE TABLE IF NOT EXISTS part (
            log int8, position int8, number int8, bytes bytea NOT NULL, PRIMARY KEY (log, position, number));
        """
    }
}

/// Runs an actor on a queue with a thread of its own.
private final class QueueExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "sharedcore-postgres")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

extension ProcessIdentity {
    /// The second number of the advisory lock that each connection of this process holds.
    fileprivate var lock: UInt64 {
        // FNV-1a in 32 bits: each participant must get the same number.
        [UInt64(pid), startTime].flatMap { word in withUnsafeBytes(of: word) { Array($0) } }
            .reduce(2_166_136_261) { (($0 ^ UInt64($1)) &* 16_777_619) & 0xffff_ffff }
    }
}
