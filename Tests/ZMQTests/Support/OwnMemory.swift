internal import Platform

/// The memory of this process.
enum OwnMemory {
    /// The resident bytes; nil if the system does not report them.
    static var residentByteCount: Int? {
        guard let bytes = try? OpenFile(path: "/proc/self/statm", .read).read(count: 256, at: 0) else { return nil }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * 4096 } : nil
    }
}
