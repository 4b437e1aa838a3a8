internal import FoundationEssentials
internal import Platform

/// The number of times that the threads of processes have waited, and so woken, up to a moment.
struct ThreadSwitches {
    private var counts: [String: Int] = [:]

    init(of processes: [Int32]) throws {
        for pid in processes {
            for thread in try Directory(path: "/proc/\(pid)/task").names() {
                let path = "/proc/\(pid)/task/\(thread)/status"
                // It may have ended meanwhile.
                guard let status = try? String(contentsOfFile: path, encoding: .utf8),
                    let line = status.split(separator: "\n").first(where: { $0.hasPrefix("voluntary_ctxt_switches:") })
                else { continue }
                counts["\(pid)/\(thread)"] = line.split(separator: "\t").last.flatMap { Int($0) } ?? 0
            }
        }
    }

    /// The number since an earlier moment. The counts of threads that have ended since are lost; threads of a pool come
    /// and go, so their counts are not taken together.
    func count(since earlier: ThreadSwitches) -> Int {
        counts.reduce(0) { $0 + $1.value - (earlier.counts[$1.key] ?? 0) }
    }
}
