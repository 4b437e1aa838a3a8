internal import CoreAPI
internal import FoundationEssentials
internal import Lifecycle
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The host's record of itself in the group, for as long as its session lives.
struct HostRecord: Codable, Hashable, Sendable {
    /// The key of the record. The participant that creates it is the host until its session ends.
    static let key: Key = ".sharedcore/host"

    /// An Executor that runs.
    struct Executor: Codable, Hashable, Sendable {
        let callID: String
        let pid: Int32
    }

    /// A push that waits for its next attempt.
    struct Retry: Codable, Hashable, Sendable {
        /// The maximum number of retries in a record, and of the bytes of all their call-ids. Both are limited because
        /// each process of the group may hold the record in memory.
        private static let count = 100
        private static let byteCount = 16 << 10

        let callID: String
        /// When its next attempt begins, in nanoseconds since the machine's boot, and the id of that boot.
        let at: UInt64
        let bootID: String

        /// Returns the next of them, as many as a record may have.
        static func next(of retries: some Sequence<Retry>) -> [Retry] {
            var left = byteCount
            return Array(
                retries.sorted { ($0.at, $0.callID) < ($1.at, $1.callID) }.prefix(count).prefix { retry in
                    left -= retry.callID.utf8.count
                    return left >= 0
                })
        }
    }

    let pid: Int32
    /// How many Executors may run at once.
    var limit: Int
    var executors: [Executor] = []
    /// How many pushes wait for their next attempt.
    var retrying = 0
    /// The next of them; nil in the record of an earlier version.
    var retries: [Retry]?
    var warningMs: UInt64
    var budgetMs: UInt64
    var memoryBytes: UInt64?
    /// How the memory of Executors is limited: `cgroup` or `sampled`; nil if it is not limited.
    var memoryBy: String?

    init(pid: Int32, settings: ExecutorSettings, isCaged: Bool) {
        self.pid = pid
        limit = settings.limit
        warningMs = settings.limits.warning.wholeMilliseconds
        budgetMs = settings.limits.budget.wholeMilliseconds
        memoryBytes = settings.limits.memory
        memoryBy = settings.limits.memory == nil ? nil : isCaged ? "cgroup" : "sampled"
    }

    /// Returns nil if the bytes are no record of a host. Any participant can have written them: a record with a number
    /// that no host writes is refused, so that no sum exceeds 64 bits.
    init?(_ bytes: [UInt8]) {
        guard let record = try? JSONDecoder().decode(HostRecord.self, from: Data(bytes)), record.hasPossibleNumbers
        else { return nil }
        self = record
    }

    private var hasPossibleNumbers: Bool {
        let counts = 0...Int(Int32.max)
        return counts.contains(limit) && counts.contains(retrying)
            && max(warningMs, budgetMs) <= DurationText.maximumMilliseconds
            && (memoryBytes ?? 0) <= ByteCountText.maximum
    }

    var bytes: [UInt8] {
        // Texts and numbers always have a form in JSON.
        (try? JSONEncoder().encode(self)).map(Array.init) ?? []
    }
}

/// The claim of this process to be the group's host: one process at a time, as long as its session lives.
struct HostClaim: Sendable {
    private let group: any SharedStore
    private let epoch: Revision

    /// Claims the group. Replaces a record of an ended session, such as one that a participant has left behind.
    ///
    /// - Throws: A failure with status 69 if the group has a host already. Its message names that host.
    init(of group: any SharedStore, with record: HostRecord) async throws {
        // The revision of a record of an ended session.
        var left: Revision?
        while true {
            var transaction = Transaction()
            transaction.require(left.map { .revision(HostRecord.key, $0) } ?? .absent(HostRecord.key))
            // Deletes the record first, so that the entry is a new one with this commit as its epoch.
            if left != nil { transaction.delete(HostRecord.key) }
            transaction.put(HostRecord.key, record.bytes, lifetime: .session)
            do throws(SharedCoreError) {
                epoch = try await group.commit(transaction).revision
                self.group = group
                return
            } catch {
                guard error.guardFailure != nil else { throw error }
            }
            let entry = try await group.get(HostRecord.key)
            // Read the sessions after the entry. If the session that wrote the entry is not among them, it has ended.
            // This call also ends the sessions of dead processes.
            let sessions = try await group.sessions()
            if let entry, let holder = sessions.first(where: { $0.id == entry.origin }) {
                throw CommandFailure(
                    .unavailable, "the group has a host already: “\(holder.name)”, pid \(holder.process.pid)")
            }
            left = entry?.revision
        }
    }

    /// Publishes the state of the host.
    func update(_ record: HostRecord) async throws(SharedCoreError) {
        var transaction = Transaction()
        transaction.require(.epoch(HostRecord.key, epoch))
        transaction.put(HostRecord.key, record.bytes, lifetime: .session)
        _ = try await group.commit(transaction)
    }
}
