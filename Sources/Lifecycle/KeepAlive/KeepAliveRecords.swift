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

    /// What a ``KeepAlive`` is given to save with: keeps the last record, and has it tried again with the next one where
    /// that fails. It ends when the keep-alive lets go of it.
    public func saving(as name: String) -> @Sendable (KeepAliveRecord) -> Void {
        let (records, continuation) = AsyncStream.makeStream(
            of: KeepAliveRecord.self, bufferingPolicy: .bufferingNewest(1))
        Task { for await record in records { try? await keep(record, as: name) } }
        let end = Ending { continuation.finish() }
        return { record in withExtendedLifetime(end) { _ = continuation.yield(record) } }
    }

    private static func key(of name: String) throws(SharedCoreError) -> Key {
        try Key(path.path + name)
    }

    /// Does something when nobody holds it any more.
    private final class Ending: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit {
            end()
        }
    }
}
