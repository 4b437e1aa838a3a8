public import CoreAPI
public import LogBackend

/// Groups that live in one SQLite database each.
public enum SQLiteGroup {
    /// Joins the group in a database, which is made when there is none.
    ///
    /// - Throws: `unsupported` for a requirement that it does not promise, `forbidden`, `corrupt`, `incompatible`,
    ///   `unavailable`, `system`.
    public static func open(
        path: String, as description: SessionDescription = SessionDescription(), options: LogGroupOptions = .sqlite
    ) async throws(SharedCoreError) -> ReplicatedGroup {
        try await ReplicatedGroup.open(log: try await TableLog.open(path: path), as: description, options: options)
    }

    /// Opens the group in a database to read it, without a session, and without a change to any file.
    ///
    /// It works where nothing may be written. It needs an SQLite that takes URIs for names (`SQLITE_USE_URI`), as
    /// Debian's does.
    ///
    /// - Throws: `unavailable` where there is no database, or an empty file, or a write-ahead log without its index;
    ///   otherwise as ``open(path:as:options:)``.
    public static func openToRead(
        path: String, as description: SessionDescription = SessionDescription(), options: LogGroupOptions = .sqlite
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await ReplicatedGroup.openToRead(log: TableReader(path: path), as: description, options: options)
    }
}

extension LogGroupOptions {
    /// The promises of a log in a table.
    ///
    /// `stoppedWritersTolerated` is not among the promises: a process that is stopped within an append keeps the write lock
    /// of the database. Nor is the durability `disk`: `PRAGMA synchronous = NORMAL` may lose the last commits with the power.
    public static let sqlite = LogGroupOptions(
        backend: "sqlite", features: [.multipleProcesses, .promptDeathNotice], durability: .process,
        wakeUp: .polling(every: TableLog.pollInterval), historyByteCount: 1 << 20)
}
