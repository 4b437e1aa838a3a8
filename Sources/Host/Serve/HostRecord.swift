internal import CoreAPI
internal import FoundationEssentials
internal import Lifecycle
internal import ProgramOutput
internal import SharedCoreConfiguration

/// What a host says of itself in the group, for as long as its session lives.
struct HostRecord: Codable, Hashable, Sendable {
    /// Where it stands. Its first writer is the host, until its session ends.
    static let key: Key = ".sharedcore/host"

    /// An Executor that runs.
    struct Executor: Codable, Hashable, Sendable {
        let callID: String
        let pid: Int32
    }

    let pid: Int32
    /// How many Executors may run at once.
    var limit: Int
    var executors: [Executor] = []
    /// How many pushes wait for their next attempt.
    var retrying = 0
    var warningMs: UInt64
    var budgetMs: UInt64
    var memoryBytes: UInt64?
    /// How the memory is limited: `cgroup` or `sampled`; nil where it is not.
    var memoryBy: String?

    init(pid: Int32, settings: ExecutorSettings, isCaged: Bool) {
        self.pid = pid
        limit = settings.limit
        warningMs = settings.limits.warning.wholeMilliseconds
        budgetMs = settings.limits.budget.wholeMilliseconds
        memoryBytes = settings.limits.memory
        memoryBy = settings.limits.memory == nil ? nil : isCaged ? "cgroup" : "sampled"
    }

    /// Nil when the bytes are no record of a host. Any participant can have written them: a number that no host writes makes
    /// them none, so that no sum of it leaves 64 bits.
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

/// That this process is the host of the group: one at a time, as long as its session lives.
struct HostClaim: Sendable {
    private let group: any SharedStore
    private let epoch: Revision

    /// Takes the place of a record whose session is over, such as one that a participant has left behind.
    ///
    /// - Throws: With status 69 when the group has a host already, which the message names.
    init(of group: any SharedStore, with record: HostRecord) async throws {
        // The record of a session that is over, by its last write.
        var left: Revision?
        while true {
            var transaction = Transaction()
            transaction.require(left.map { .revision(HostRecord.key, $0) } ?? .absent(HostRecord.key))
            // So that the entry is a new one, whose epoch is this commit.
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
            // Asked behind it: a session that wrote it and is not there is over. Asking ends the sessions of the dead.
            let sessions = try await group.sessions()
            if let entry, let holder = sessions.first(where: { $0.id == entry.origin }) {
                throw CommandFailure(
                    .unavailable, "the group has a host already: “\(holder.name)”, pid \(holder.process.pid)")
            }
            left = entry?.revision
        }
    }

    /// Says how the host is doing.
    func update(_ record: HostRecord) async throws(SharedCoreError) {
        var transaction = Transaction()
        transaction.require(.epoch(HostRecord.key, epoch))
        transaction.put(HostRecord.key, record.bytes, lifetime: .session)
        _ = try await group.commit(transaction)
    }
}
