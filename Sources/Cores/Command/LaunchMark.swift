package import Coordination
package import CoreAPI
package import Platform

/// An environment variable that names the `sharedcore`, or the participant, which has started a process. The process's own
/// children inherit it.
package struct LaunchMark: Hashable, Sendable {
    /// The role in which a process was started.
    package enum Role: String, CaseIterable, Sendable {
        /// An Executor that a host has started.
        case executor = "EXECUTOR_OF"
        /// The command of `exclusive`.
        case command = "COMMAND_OF"
        /// The program of a ``CommandCore``.
        case core = "CORE_OF"

        package var variable: String { "SHAREDCORE_" + rawValue }
    }

    /// The process that has started it.
    package let parent: ProcessIdentity
    /// The id of the started process, which is also that of its process group if it leads one. For a core, a random
    /// number, because the process id is not known before the start.
    package let number: UInt64

    package init(parent: ProcessIdentity, number: UInt64) {
        self.parent = parent
        self.number = number
    }

    /// Makes the mark of this process, which a sharedcore has started.
    ///
    /// - Returns: Nil if the parent has ended.
    package init?(startedBy parent: Int32) {
        guard let parent = ProcessIdentity(of: parent) else { return nil }
        self.init(parent: parent, number: UInt64(ProcessIdentity.current.pid))
    }

    package var text: String {
        "\(ProcessIdentity.currentNamespace) \(parent.bootID) \(parent.pid) \(parent.startTime) \(number)"
    }

    /// Returns the rest of the variable that begins with `start`. Fast, because the environment of each process of the machine is
    /// searched.
    private static func line(beginning start: [UInt8], in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var offset = 0
        while offset < bytes.count {
            let end = bytes.firstOffset(of: 0, from: offset) ?? bytes.count
            let line = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
            if line.begins(with: start) { return Array(line.dropFirst(start.count)) }
            offset = end + 1
        }
        return nil
    }

    /// The maximum number of bytes to read. It is more than Linux allows for an environment: 6 MiB with the arguments,
    /// or 2 MiB with the usual stack limit (execve(2)).
    private static let environmentByteCount = 8 << 20
    private static let pieceByteCount = 64 << 10

    /// Reads all of a process's environment; nil if it cannot be read.
    private static func environment(of process: Int32) -> [UInt8]? {
        guard let file = try? OpenFile(path: "/proc/\(process)/environ", .read) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < environmentByteCount,
            let piece = try? file.read(count: pieceByteCount, at: bytes.count)
        {
            // Usually there is one piece, which is not copied.
            bytes = bytes.isEmpty ? piece : bytes + piece
            // The kernel returns less than requested only at the end.
            if piece.count < pieceByteCount { break }
        }
        return bytes
    }

    /// Reads the mark of a process; nil if it has none or cannot be read.
    ///
    /// - Parameter namespace: The PID namespace to which the process ids of the mark must belong.
    package init?(of process: Int32, as role: Role, in namespace: UInt64 = ProcessIdentity.currentNamespace) {
        let start = Array((role.variable + "=").utf8)
        guard let bytes = Self.environment(of: process),
            let line = bytes.withUnsafeBytes({ Self.line(beginning: start, in: $0) })
        else { return nil }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        // The ids of another boot or another namespace have no meaning here.
        guard words.count == 5, words[0] == "\(namespace)",
            words[1] == "\(SystemClock().bootID)", let parent = Int32(words[2]), let startTime = UInt64(words[3]),
            let number = UInt64(words[4])
        else { return nil }
        self.init(
            parent: ProcessIdentity(bootID: SystemClock().bootID, pid: parent, startTime: startTime), number: number)
    }
}

/// Processes that carry a mark.
package enum MarkedProcesses {
    /// The result of ending processes.
    package struct Ending: Hashable, Sendable {
        /// How many processes were to be ended.
        package var count = 0
        /// True if no process is left.
        package var isComplete = false
    }

    /// How often the processes are searched again because some ended meanwhile, which is normal on a busy machine.
    private static let searchCount = 4

    /// Kills this user's processes with a mark that fulfils a condition, each as soon as it is found, and returns them.
    ///
    /// A process that ends during the search may have had the mark and have started another one, which is in no list
    /// yet. So a search that finds none is repeated if processes have ended, ``searchCount`` times at most. A process
    /// that only starts its successor and ends may still be missed.
    ///
    /// Complexity: O(n) in the processes of the machine.
    package static func kill(
        as role: LaunchMark.Role, in namespace: UInt64 = ProcessIdentity.currentNamespace,
        where isMeant: (ProcessIdentity, LaunchMark) -> Bool
    ) -> [ProcessHandle] {
        for _ in 0..<searchCount {
            var hasMissed = false
            // Check the newest processes first, because they are the most likely to end soon.
            let numbers = ((try? Directory(path: "/proc").names()) ?? []).compactMap { Int32($0) }.sorted(by: >)
            let found = numbers.compactMap { pid in
                // Open the process before the check, so that the signal goes to the process that was checked.
                if let identity = ProcessIdentity(of: pid), let handle = try? ProcessHandle(identity),
                    handle.isOfOwnUser, let mark = LaunchMark(of: pid, as: role, in: namespace),
                    isMeant(identity, mark), !handle.hasEnded
                {
                    // Killed at once, so that it cannot start another process.
                    _ = try? handle.signal(.kill)
                    return handle
                }
                if (try? FileStatus(behindPath: "/proc/\(pid)")) == nil { hasMissed = true }
                return ProcessHandle?.none
            }
            if !found.isEmpty || !hasMissed { return found }
        }
        return []
    }

    /// Ends processes, and waits for their end. Blocks.
    ///
    /// - Parameters:
    ///   - timeout: The time limit: a process in an uninterruptible system call ends only after it. Nil for no limit.
    ///   - find: Returns the processes that are left.
    package static func end(timeout: Duration? = nil, found find: () -> [ProcessHandle]) -> Ending {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        var ended: Set<ProcessIdentity> = []
        // Repeat until no process is left, because one may have started another meanwhile.
        while true {
            let left = find()
            if left.isEmpty { return Ending(count: ended.count, isComplete: true) }
            for process in left {
                _ = try? process.signal(.kill)
                ended.insert(process.identity)
            }
            for process in left {
                let timeout = min(.seconds(1), deadline.map { ContinuousClock.now.duration(to: $0) } ?? .seconds(1))
                _ = Poll.wait(for: [process.descriptor], timeout: max(.zero, timeout))
            }
            if let deadline, ContinuousClock.now >= deadline { return Ending(count: ended.count) }
        }
    }
}

/// The variables that describe the core in the environment of its program, and of the command of `exclusive`.
package enum CoreVariables {
    private static let epoch = "SHAREDCORE_EPOCH"
    private static let role = "SHAREDCORE_ROLE"
    static let group = "SHAREDCORE_GROUP"

    /// The names of the variables that are no settings.
    package static let names = [epoch, role]

    /// The variables by which a service manager addresses a single process.
    static let ofServiceManager: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]

    /// Returns the variables that describe a core: its epoch and its role.
    package static func of(_ context: CoreContext) -> [String: String] {
        [epoch: "\(context.epoch.rawValue)", role: context.role.rawValue]
    }
}
