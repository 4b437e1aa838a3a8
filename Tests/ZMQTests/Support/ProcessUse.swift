internal import Glibc
internal import Platform

/// The resources that a process holds of the system.
struct ProcessUse {
    let descriptorCount: Int
    let residentByteCount: Int

    /// Reads the figures of a process of this user.
    init(of pid: Int32) throws {
        descriptorCount = try Directory(path: "/proc/\(pid)/fd").names().count
        let bytes = try OpenFile(path: "/proc/\(pid)/statm", .read).read(count: 256, at: 0)
        let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) }
        residentByteCount = (pages ?? 0) * 4096
    }

    /// The processor time that a process has used.
    static func processorTime(of pid: Int32) throws -> Duration {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            throw SystemCallError("clock_gettime", number: errno, at: "process \(pid)")
        }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
