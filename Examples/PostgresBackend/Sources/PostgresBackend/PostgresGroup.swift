internal import CPostgres
public import CoreAPI
public import LogBackend

/// Groups that live in the tables of a PostgreSQL database.
public enum PostgresGroup {
    /// Joins a group, which is made when there is none, with the tables.
    ///
    /// - Throws: `unsupported` for a requirement that it does not promise, `forbidden`, `corrupt`, `incompatible`, `unavailable`, `system`.
    public static func open(
        _ place: PostgresPlace, as description: SessionDescription = SessionDescription(),
        options: LogGroupOptions = .postgres
    ) async throws(SharedCoreError) -> ReplicatedGroup {
        try await open(place, as: description, options: options) { $0 }
    }

    /// - Parameter wrap: Returns the log that the group uses, which passes the calls on.
    package static func open(
        _ place: PostgresPlace, as description: SessionDescription, options: LogGroupOptions,
        through wrap: (any SharedLog) -> any SharedLog
    ) async throws(SharedCoreError) -> ReplicatedGroup {
        var isFirst = true
        while true {
            let log = try await PostgresLog.open(place)
            var options = options
            options.durability = await log.durability ?? .process
            do throws(SharedCoreError) {
                return try await ReplicatedGroup.open(log: wrap(log), as: description, options: options)
            } catch {
                // After a new start of the machine, the sessions from before it end when the locks can be trusted.
                guard isFirst, error.code == .incompatible, let doubt = await log.doubt else { throw error }
                guard (try? await Task.sleep(for: doubt)) != nil else { throw .cancelled(place.location) }
                isFirst = false
            }
        }
    }

    /// Opens a group to read it, without a session, a lock or a change.
    ///
    /// - Throws: `unavailable` where there is no such group; otherwise as ``open(_:as:options:)``.
    public static func openToRead(
        _ place: PostgresPlace, as description: SessionDescription = SessionDescription(),
        options: LogGroupOptions = .postgres
    ) async throws(SharedCoreError) -> any SharedGroup {
        let log = try await PostgresLog.open(place, toRead: true)
        var options = options
        options.durability = await log.durability ?? .process
        return try await ReplicatedGroup.openToRead(log: log, as: description, options: options)
    }
}

extension LogGroupOptions {
    /// The promises of a log on a server. The durability is replaced by that of the server.
    public static let postgres = LogGroupOptions(
        backend: "postgres", features: [.multipleProcesses, .promptDeathNotice, .stoppedWritersTolerated],
        durability: .process, historyByteCount: 1 << 20)
}

/// The place of a group on a server.
public struct PostgresPlace: Hashable, Sendable {
    let server: String
    let schema: String
    let group: String

    var location: String { "postgres group \(schema).\(group)" }

    /// - Parameters:
    ///   - server: A connection string or URI of libpq; what it does not say comes from libpq's environment and files.
    ///   - schema: The schema of the tables: 1 to 63 of `a` to `z`, `0` to `9` and `_`, no digit first.
    /// - Throws: `invalidArgument`.
    public init(server: String = "", schema: String = "sharedcore", group: String) throws(SharedCoreError) {
        (self.server, self.schema, self.group) = (server, schema, group)
        guard schema.wholeMatch(of: /[a-z_][a-z0-9_]{0,62}/) != nil, !schema.hasPrefix("pg_") else {
            throw SharedCoreError(
                .invalidArgument, "A schema has 1 to 63 of a to z, 0 to 9 and _, no digit and no pg_ first.",
                at: "postgres.schema")
        }
        // libpq's message is left out: it may have a part of a password in it.
        guard !server.utf8.contains(0), let parsed = PQconninfoParse(server, nil) else {
            throw SharedCoreError(
                .invalidArgument, "This is no connection string or URI of libpq.", at: "postgres.connection")
        }
        PQconninfoFree(parsed)
    }
}
