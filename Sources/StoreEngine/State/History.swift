public import CoreAPI

/// The latest commits, so that watches can go on from a revision: a window bounded by its bytes. The last commit is in
/// it whatever its size, so that a consumer who keeps up is never passed over.
public struct History: Sendable {
    /// The bytes of memory that the window may take.
    public let byteLimit: Int
    /// Every change after this revision is in the window.
    public private(set) var floor: Revision

    private var commits: [CommittedChanges] = []
    private var first = 0
    private var byteCount = 0

    init(floor: Revision, byteLimit: Int) {
        self.floor = floor
        self.byteLimit = byteLimit
    }

    /// The last commit that is kept; nil when none is.
    public var last: CommittedChanges? {
        first < commits.count ? commits.last : nil
    }

    mutating func append(_ commit: CommittedChanges) {
        guard !commit.changes.isEmpty else { return }
        byteCount += Self.cost(of: commit)
        commits.append(commit)
        while byteCount > byteLimit, first < commits.count - 1 {
            byteCount -= Self.cost(of: commits[first])
            floor = commits[first].revision
            first += 1
        }
        // Dropping from the front in large steps keeps each append at constant cost on average.
        if first > 64, first * 2 > commits.count {
            commits.removeFirst(first)
            first = 0
        }
    }

    /// Forgets the commits up to `revision`, and with them where their values lie.
    public mutating func forget(through revision: Revision) {
        while first < commits.count, commits[first].revision <= revision {
            byteCount -= Self.cost(of: commits[first])
            first += 1
        }
        commits.removeFirst(first)
        first = 0
        floor = max(floor, revision)
    }

    /// Forgets everything and begins anew at `revision`.
    mutating func restart(at revision: Revision) {
        commits.removeAll()
        first = 0
        byteCount = 0
        floor = revision
    }

    /// The commits after `revision`; nil when some of them are no longer kept.
    func commits(after revision: Revision) -> ArraySlice<CommittedChanges>? {
        guard revision >= floor else { return nil }
        var low = first
        var high = commits.count
        while low < high {
            let middle = (low + high) / 2
            if commits[middle].revision <= revision { low = middle + 1 } else { high = middle }
        }
        return commits[low...]
    }

    private static func cost(of commit: CommittedChanges) -> Int {
        commit.changes.reduce(64) { $0 + $1.residentByteCount }
    }
}
