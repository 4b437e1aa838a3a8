internal import Platform

/// What a process holds of the system.
struct ProcessUse {
    let descriptorCount: Int
    let residentByteCount: Int

    /// Looks at a process of this user.
    init(of pid: Int32) throws {
        descriptorCount = try Directory(path: "/proc/\(pid)/fd").names().count
        let bytes = try OpenFile(path: "/proc/\(pid)/statm", .read).read(count: 256, at: 0)
        let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) }
        residentByteCount = (pages ?? 0) * 4096
    }
}
