internal import FoundationEssentials
internal import Platform

/// How often the threads of a process have waited, and so woken.
enum ThreadSwitches {
    static func count(of pid: Int32) throws -> Int {
        try Directory(path: "/proc/\(pid)/task").names().reduce(0) { sum, thread in
            let status = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }
}
