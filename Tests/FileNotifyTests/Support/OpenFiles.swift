internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport

/// The names of a group's files.
func groupNames(in directory: TemporaryDirectory) throws -> [String] {
    try Directory(path: directory.path(of: "group")).names()
}

/// The targets of the open descriptors of a process.
func openTargets(of pid: Int32) throws -> [String] {
    let path = "/proc/\(pid)/fd"
    return try Directory(path: path).names().compactMap { name in
        var target = [CChar](repeating: 0, count: 4096)
        let count = readlink(path + "/" + name, &target, target.count)
        return count > 0 ? String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}
