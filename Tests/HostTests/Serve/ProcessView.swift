internal import CoreAPI
internal import FoundationEssentials
internal import Glibc
internal import Platform

/// A test's view of other processes.
enum ProcessView {
    /// Returns true if no process has this number, or the process has ended.
    static func isGone(_ pid: Int32) -> Bool {
        guard let identity = ProcessIdentity(of: pid) else { return true }
        return identity.liveness == .dead
    }

    /// The processes that were started with a text among their arguments, this one left out.
    static func naming(_ text: String) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { pid in
            guard pid != getpid(), let file = try? OpenFile(path: "/proc/\(pid)/cmdline", .read),
                let bytes = try? file.read(count: 64 << 10, at: 0)
            else { return false }
            return String(decoding: bytes, as: UTF8.self).contains(text)
        }
    }
}
