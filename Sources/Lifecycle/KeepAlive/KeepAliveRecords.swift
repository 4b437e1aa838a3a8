public import CoreAPI

/// The records of keep-alives in the group: kept for the next process, and for `sharedcore status` to show.
///
/// ```swift
/// let records = KeepAliveRecords(store)
/// let keepAlive = try KeepAlive(
///     restoring: await records.record(of: "main"), clock: SystemClock(), save: records.saving(as: "main"))
/// ```
///
/// Source: contract P4.
public struct KeepAliveRecords: Sendable {
    static let path: KeyPrefix = ".sharedcore/keep-alives/"

    private let store: any SharedStore

    public init(_ store: any SharedStore) {
        self.store = store
    }

    /// What was kept under a name last; nil where nothing was, or nothing that this version understands.
    public func record(of name: String) async throws(SharedCoreError) -> KeepAliveRecord? {
        try await store.get(Self.key(of: name)).flatMap { try? KeepAliveRecord(bytes: $0.value) }
    }

    /// All that are kept, by their names.
    public func all() async throws(SharedCoreError) -> [String: KeepAliveRecord] {
        var records: [String: KeepAliveRecord] = [:]
        for entry in try await store.list(Self.path).entries {
            records[String(entry.key.text.dropFirst(Self.path.path.count))] = try? KeepAliveRecord(bytes: entry.value)
        }
        return records
    }

    /// Keeps a record under a name, which is one part of a key.
    public func keep(_ record: KeepAliveRecord, as name: String) async throws(SharedCoreError) {
        try await store.put(Self.key(of: name), record.bytes)
    }

    /// Removes what was kept under a name, as of an application that is gone for good. Nothing there is no error.
    public func remove(_ name: String) async throws(SharedCoreError) {
        try await store.delete(Self.key(of: name))
    }

    /// What a ``KeepAlive`` is given to save with: keeps the last record, and has it tried again with the next one where
    /// that fails. It ends when the keep-alive lets go of it. Whoever ends may lose the last record so, and the next one
    /// goes on where the former one stood; a ``writer(as:)`` can be waited for.
    public func saving(as name: String) -> @Sendable (KeepAliveRecord) -> Void {
        let writer = writer(as: name)
        return { writer.save($0) }
    }

    /// As ``saving(as:)``, with an end that can be waited for.
    public func writer(as name: String) -> KeepAliveRecordWriter {
        KeepAliveRecordWriter { record throws(SharedCoreError) in try await keep(record, as: name) }
    }

    private static func key(of name: String) throws(SharedCoreError) -> Key {
        try Key(path.path + name)
    }
}
