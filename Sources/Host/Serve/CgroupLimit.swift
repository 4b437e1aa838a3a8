internal import Platform
internal import Synchronization

/// A cgroup of version 2 that belongs to this process. In it, each Executor gets a cgroup of its own with a memory
/// limit by the kernel.
///
/// It exists only if the service manager delegates it (`Delegate=memory` of a systemd unit): this process changes
/// nothing that was not given to it.
///
/// Source: https://docs.kernel.org/admin-guide/cgroup-v2.html, “Delegation” and “No Internal Process Constraint”.
final class CgroupLimit: Sendable {
    /// A limited resource: its controller, and the file of a cgroup that limits it.
    struct Resource: Sendable {
        let controller: String
        let file: String

        static let memory = Resource(controller: "memory", file: "memory.max")
    }

    private let path: String
    private let resource: Resource
    private let number = Atomic<UInt64>(0)

    /// Makes the cgroup ready.
    ///
    /// - Parameters:
    ///   - path: The directory of the cgroup that this process is in.
    ///   - process: This process.
    /// - Returns: Nil if the memory of its children cannot be limited.
    init?(at path: String, process: Int32, limiting resource: Resource = .memory) {
        self.path = path
        self.resource = resource
        let words = OpenFile.text(of: path + "/cgroup.controllers")?.split(whereSeparator: \.isWhitespace) ?? []
        guard words.contains(where: { $0 == resource.controller }),
            FileStatus.isWritable(path + "/cgroup.subtree_control"),
            // A cgroup that other processes share, such as the shell that started this one, was not delegated to this
            // process.
            OpenFile.text(of: path + "/cgroup.procs")?.split(whereSeparator: \.isWhitespace) == ["\(process)"]
        else { return nil }
        guard Self.isDelegated(path) else { return nil }
        for name in (try? Directory(path: path).names()) ?? [] where name.hasPrefix("executor-") {
            // Remove the cgroups that a killed host has left.
            Cell(path: path + "/" + name).remove()
        }
        // A cgroup that limits its children must not contain processes itself, so move this process into a child.
        let own = path + "/host"
        guard (try? Directory.create(path: own, permissions: 0o755)) != nil,
            Self.write("\(process)", to: own + "/cgroup.procs"),
            Self.write("+\(resource.controller)", to: path + "/cgroup.subtree_control")
        else { return nil }
    }

    /// Returns true if the service manager marks the cgroup as delegated to its service.
    ///
    /// Source: https://systemd.io/CGROUP_DELEGATION, “Delegation”.
    private static func isDelegated(_ path: String) -> Bool {
        ["user.delegate", "trusted.delegate"].contains { FileAttribute.text($0, of: path) == "1" }
    }

    /// Returns this process's cgroup if it is of version 2; nil if not.
    static func ownPath() -> String? {
        let groups = OpenFile.text(of: "/proc/self/cgroup")?.split(separator: "\n")
        guard let own = groups?.first(where: { $0.hasPrefix("0::/") }),
            let mounts = OpenFile.text(of: "/proc/self/mounts", upTo: 1 << 20)
        else { return nil }
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2, words[2] == "cgroup2" else { continue }
            let name = own.dropFirst(3)
            return String(words[1]) + (name == "/" ? "" : String(name))
        }
        return nil
    }

    /// Puts a held process into a cgroup of its own.
    ///
    /// - Returns: The cgroup; nil if that was not possible, and the process's memory must be measured instead.
    func enclose(_ process: Int32, byteCount: UInt64) -> Cell? {
        guard let cell = newCell() else { return nil }
        guard Self.write("\(byteCount)", to: cell.path + "/" + resource.file),
            Self.write("\(process)", to: cell.path + "/cgroup.procs")
        else {
            cell.remove()
            return nil
        }
        // Allow no swap, or the memory limit would only move memory to the disk. Not every kernel has this file.
        _ = Self.write("0", to: cell.path + "/memory.swap.max")
        _ = Self.write("1", to: cell.path + "/memory.oom.group")
        return cell
    }

    private func newCell() -> Cell? {
        while true {
            let index = number.add(1, ordering: .relaxed).newValue
            let cell = Cell(path: path + "/executor-\(index)")
            guard let isMade = try? Directory.create(path: cell.path, permissions: 0o755) else { return nil }
            // An existing name belongs to a cgroup that could not be removed, so try the next name.
            if isMade { return cell }
        }
    }

    /// The cgroup of one Executor.
    struct Cell: Sendable {
        let path: String

        /// Returns true if the kernel has killed a process of the cgroup for lack of memory.
        ///
        /// Source: https://docs.kernel.org/admin-guide/cgroup-v2.html, “memory.events”.
        func hasKilled() -> Bool {
            let lines = OpenFile.text(of: path + "/memory.events")?.split(separator: "\n") ?? []
            return lines.contains { line in
                let words = line.split(separator: " ")
                return words.count == 2 && words[0] == "oom_kill" && words[1] != "0"
            }
        }

        /// The number of attempts to remove a cgroup after its processes were killed, and the pause between them.
        private static let attempts = 200
        private static let pause = Duration.milliseconds(10)

        /// Kills the processes that are left in the cgroup, and removes it. Blocks until they have ended, 2 s at most.
        func remove() {
            _ = CgroupLimit.write("1", to: path + "/cgroup.kill")
            for _ in 0..<Self.attempts {
                // The cgroup cannot be removed while a process in it has not ended, so try again.
                do throws(SystemCallError) {
                    return try Directory.remove(path: path)
                } catch {
                    guard error.isBusy else { return }
                }
                OwnedThread.sleep(for: Self.pause)
            }
        }
    }

    /// Writes a text to a file of a cgroup. The file is opened for writing only, because some of these files cannot be
    /// read.
    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = try? OpenFile(toWrite: path) else { return false }
        return (try? file.writeStream(Array(text.utf8))) != nil
    }
}
