public import CoreAPI

/// Keeps the records of one keep-alive, in their order, while nobody waits for it.
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

    /// Keeps a record, unless a later one comes first. Returns at once.
    public func save(_ record: KeepAliveRecord) {
        records.yield(record)
    }

    /// Ends it, and returns once nothing more of it reaches the group: the last record is kept.
    ///
    /// - Throws: Why the last record could not be kept.
    public func finish() async throws(SharedCoreError) {
        records.finish()
        if let problem = await work.value { throw problem }
    }
}
