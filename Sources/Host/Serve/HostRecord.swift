internal import CoreAPI
internal import FoundationEssentials
internal import Lifecycle

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
        warningMs = settings.limits.warning.clampedNanoseconds / 1_000_000
        budgetMs = settings.limits.budget.clampedNanoseconds / 1_000_000
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
