internal import CoreAPI
internal import FoundationEssentials
internal import Lifecycle
internal import ProgramOutput

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

    init?(_ bytes: [UInt8]) {
        guard let record = try? JSONDecoder().decode(HostRecord.self, from: Data(bytes)) else { return nil }
        self = record
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

    /// - Throws: With status 69 when the group has a host already, which the message names.
    init(of group: any SharedStore, with record: HostRecord) async throws {
        var transaction = Transaction()
        transaction.require(.absent(HostRecord.key))
        transaction.put(HostRecord.key, record.bytes, lifetime: .session)
        while true {
            do throws(SharedCoreError) {
                epoch = try await group.commit(transaction).revision
                self.group = group
                return
            } catch {
                guard error.guardFailure != nil else { throw error }
            }
            // Asking who is there ends the sessions of the dead.
            let sessions = try await group.sessions()
            guard let entry = try await group.get(HostRecord.key),
                let holder = sessions.first(where: { $0.id == entry.origin })
            else { continue }
            throw CommandFailure(
                .unavailable, "the group has a host already: “\(holder.name)”, pid \(holder.process.pid)")
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
