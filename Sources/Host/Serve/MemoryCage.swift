internal import Glibc
internal import Platform
internal import Synchronization

/// A cgroup of version 2 that belongs to this process, in which each Executor gets one of its own whose memory the kernel
/// limits.
///
/// It is there where the service manager delegates it (`Delegate=memory` of a systemd unit) and nowhere else: nothing is
/// changed that was not given to this process.
///
/// Source: https://docs.kernel.org/admin-guide/cgroup-v2.html, “Delegation” and “No Internal Process Constraint”.
final class MemoryCage: Sendable {
    private let path: String
    private let number = Atomic<UInt64>(0)

    /// Makes the cgroup ready.
    ///
    /// - Parameters:
    ///   - path: The directory of the cgroup that this process is in.
    ///   - process: This process.
    /// - Returns: Nil where the memory of its children cannot be limited.
    init?(at path: String, process: Int32) {
        self.path = path
        let words = Self.read(path + "/cgroup.controllers")?.split(whereSeparator: \.isWhitespace) ?? []
        guard words.contains("memory"), access(path + "/cgroup.subtree_control", W_OK) == 0,
            // Shared with others, such as the shell that started this, it was not given to this process.
            Self.read(path + "/cgroup.procs")?.split(whereSeparator: \.isWhitespace) == ["\(process)"]
        else { return nil }
        // A cgroup whose children have limits holds no process itself.
        let own = path + "/host"
        guard mkdir(own, 0o755) == 0 || errno == EEXIST, Self.write("\(process)", to: own + "/cgroup.procs"),
            Self.write("+memory", to: path + "/cgroup.subtree_control")
        else { return nil }
    }

    /// The cgroup of this process, where it is one of version 2; nil where it is not.
    static func ownPath() -> String? {
        guard let own = read("/proc/self/cgroup")?.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }),
            let mounts = read("/proc/self/mounts")
        else { return nil }
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2, words[2] == "cgroup2" else { continue }
            let name = own.dropFirst(3)
            return String(words[1]) + (name == "/" ? "" : String(name))
        }
        return nil
    }

    /// Puts a process that has just been started into a cgroup of its own.
    ///
    /// - Returns: Nil when that was not possible; then its memory has to be looked at.
    func enclose(_ process: Int32, byteCount: UInt64) -> Cell? {
        let index = number.add(1, ordering: .relaxed).newValue
        let cell = Cell(path: path + "/executor-\(index)")
        guard mkdir(cell.path, 0o755) == 0 else { return nil }
        guard Self.write("\(byteCount)", to: cell.path + "/memory.max"),
            Self.write("\(process)", to: cell.path + "/cgroup.procs")
        else {
            cell.remove()
            return nil
        }
        // Nothing would be limited if it were swapped out in place. Not every kernel has it.
        _ = Self.write("0", to: cell.path + "/memory.swap.max")
        _ = Self.write("1", to: cell.path + "/memory.oom.group")
        return cell
    }

    /// The cgroup of one Executor.
    struct Cell: Sendable {
        let path: String

        /// Whether the kernel has killed somebody in it for want of memory.
        func hasKilled() -> Bool {
            let words = MemoryCage.read(path + "/memory.events")?.split(whereSeparator: \.isWhitespace) ?? []
            guard let index = words.firstIndex(of: "oom_kill"), index + 1 < words.count else { return false }
            return words[index + 1] != "0"
        }

        /// Ends whatever is left in it, and removes it.
        func remove() {
            _ = MemoryCage.write("1", to: path + "/cgroup.kill")
            rmdir(path)
        }
    }

    private static func read(_ path: String) -> String? {
        guard let file = try? OpenFile(path: path, .read), let bytes = try? file.read(count: 256 << 10, at: 0) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = try? OpenFile(path: path, .write) else { return false }
        return (try? file.write(Array(text.utf8), at: 0)) != nil
    }
}
