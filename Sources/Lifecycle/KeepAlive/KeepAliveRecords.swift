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

    /// Returns the last record of a name; nil if there is none that this version understands.
    public func record(of name: String) async throws(SharedCoreError) -> KeepAliveRecord? {
        try await store.get(Self.key(of: name)).flatMap { try? KeepAliveRecord(bytes: $0.value) }
    }

    /// Returns all records, by name.
    public func all() async throws(SharedCoreError) -> [String: KeepAliveRecord] {
        var records: [String: KeepAliveRecord] = [:]
        for entry in try await store.list(Self.path).entries {
            records[String(entry.key.text.dropFirst(Self.path.path.count))] = try? KeepAliveRecord(bytes: entry.value)
        }
        return records
    }

    /// Reports when the next keep-alive is due: the earliest time in all records; nil if there is none. Returns when
    /// the task is cancelled or the group is closed.
    package func followDueTime(
        by clock: any TimeSource, _ tell: @Sendable (BootInstant?) async -> Void
    ) async throws(SharedCoreError) {
        let watch = try await store.watch([Self.path], from: .snapshot)
        defer { watch.cancel() }
        while try await watch.next() != nil {
            let now = clock.now()
            let due = try await all().values.compactMap { record -> BootInstant? in
                guard let machine = try? KeepAliveMachine(restoring: record, on: clock.bootID, at: now) else {
                    return nil
                }
                return machine.handlerNames.compactMap(machine.dueTime(of:)).min()
            }
            await tell(due.min())
        }
    }

    /// Keeps a record under a name, which is one part of a key.
    public func keep(_ record: KeepAliveRecord, as name: String) async throws(SharedCoreError) {
        try await store.put(Self.key(of: name), record.bytes)
    }

    /// Removes the record of a name, for example of an uninstalled application. A missing record is no error.
    public func remove(_ name: String) async throws(SharedCoreError) {
        try await store.delete(Self.key(of: name))
    }

    /// Returns the function with which a ``KeepAlive`` saves: it keeps the last record, and after a failure tries again
    /// with the next one. It ends when the keep-alive releases it. A process that ends may lose the last record, and
    /// the next process continues with the record before; use a ``writer(as:)`` to wait for it.
    public func saving(as name: String) -> @Sendable (KeepAliveRecord) -> Void {
        let writer = writer(as: name)
        return { writer.save($0) }
    }

    /// Returns a writer like ``saving(as:)``, with an end that can be awaited.
    public func writer(as name: String) -> KeepAliveRecordWriter {
        KeepAliveRecordWriter { record throws(SharedCoreError) in try await keep(record, as: name) }
    }

    private static func key(of name: String) throws(SharedCoreError) -> Key {
        try Key(path.path + name)
    }
}

/// Keeps the records of one keep-alive, in order, in the background.
///
/// ```swift
/// let writer = records.writer(as: "main")
/// let keepAlive = try KeepAlive(clock: SystemClock(), save: { writer.save($0) })
/// // At the end of the process, and before its records are removed:
/// await keepAlive.close()
/// try await writer.finish()
/// ```
///
/// Source: contract P4.
public final class KeepAliveRecordWriter: Sendable {
    private let records: AsyncStream<KeepAliveRecord>.Continuation
    private let work: Task<SharedCoreError?, Never>

    init(keep: @escaping @Sendable (KeepAliveRecord) async throws(SharedCoreError) -> Void) {
        let (records, continuation) = AsyncStream.makeStream(
            of: KeepAliveRecord.self, bufferingPolicy: .bufferingNewest(1))
        self.records = continuation
        work = Task {
            var problem: SharedCoreError?
            for await record in records {
                do throws(SharedCoreError) {
                    try await keep(record)
                    problem = nil
                } catch {
                    problem = error
                }
            }
            return problem
        }
    }

    deinit {
        records.finish()
    }

    /// Keeps a record, unless a later one replaces it. Returns at once.
    public func save(_ record: KeepAliveRecord) {
        records.yield(record)
    }

    /// Ends the writer, and returns after its last record was kept.
    ///
    /// - Throws: The reason why the last record could not be kept.
    public func finish() async throws(SharedCoreError) {
        records.finish()
        if let problem = await work.value { throw problem }
    }
}
