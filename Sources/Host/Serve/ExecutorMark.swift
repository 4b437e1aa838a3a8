internal import CoreAPI
internal import Glibc
internal import Platform

/// By what a process can be told to be of an Executor: the command that a host has started, and whatever that has started,
/// have it in their environment.
struct ExecutorMark: Hashable, Sendable {
    static let variable = EnvironmentLayer.prefix + "EXECUTOR_OF"

    /// The host that has started it.
    let host: ProcessIdentity
    /// In which numbers of processes mean what they do here.
    let namespace: UInt64
    /// The Executor's process, and so its process group.
    let group: Int32

    /// - Returns: Nil when the parent is gone.
    init?(of process: ProcessIdentity, startedBy parent: Int32) {
        guard let host = ProcessIdentity(of: parent) else { return nil }
        self.host = host
        namespace = ProcessIdentity.currentNamespace
        group = process.pid
    }

    var text: String { "\(namespace) \(host.bootID) \(host.pid) \(host.startTime) \(group)" }

    /// The mark of a process; nil where it has none or cannot be looked at.
    init?(of pid: Int32) {
        let start = Array((Self.variable + "=").utf8)
        guard let bytes = try? OpenFile(path: "/proc/\(pid)/environ", .read).read(count: 1 << 20, at: 0),
            let line = bytes.split(separator: 0).first(where: { $0.starts(with: start) })
        else { return nil }
        let words = String(decoding: line.dropFirst(start.count), as: UTF8.self).split(separator: " ")
        // Of another run of the machine, or as seen from elsewhere, the numbers mean nothing here.
        guard words.count == 5, words[0] == "\(ProcessIdentity.currentNamespace)",
            words[1] == "\(SystemClock().bootID)", let host = Int32(words[2]), let startTime = UInt64(words[3]),
            let group = Int32(words[4])
        else { return nil }
        self.host = ProcessIdentity(bootID: SystemClock().bootID, pid: host, startTime: startTime)
        namespace = ProcessIdentity.currentNamespace
        self.group = group
    }

    /// What came of ending leftovers.
    struct Ending: Hashable, Sendable {
        /// How many processes were ended.
        var count = 0
        /// Whether none is left.
        var isComplete = false
    }

    /// Ends what the Executors of hosts that were killed have left running, and waits for its end. The kernel ends an
    /// Executor with its host, and not what a command has started in turn. One that has left the process group, as a daemon
    /// does, is left alone.
    ///
    /// - Parameters:
    ///   - limit: How long to go on: a process that the kernel holds ends when it lets it.
    ///   - find: Gives the processes that are left.
    static func endLeftovers(
        within limit: Duration = .seconds(10), found find: () -> [ProcessHandle] = leftovers
    ) -> Ending {
        let deadline = ContinuousClock.now + limit
        var ended: Set<ProcessIdentity> = []
        // Again while there are: one may have started another in the meantime.
        while true {
            let left = find()
            if left.isEmpty { return Ending(count: ended.count, isComplete: true) }
            for process in left where (try? process.signal(.kill)) ?? false { ended.insert(process.identity) }
            for process in left {
                let patience = min(.seconds(1), ContinuousClock.now.duration(to: deadline))
                _ = Poll.wait(for: [process.descriptor], timeout: max(.zero, patience))
            }
            if ContinuousClock.now >= deadline { return Ending(count: ended.count) }
        }
    }

    private static func leftovers() -> [ProcessHandle] {
        let numbers = ((try? Directory(path: "/proc").names()) ?? []).compactMap { Int32($0) }
        return numbers.compactMap { pid in
            // Opened before it is looked at, so that what is signalled is what was looked at.
            guard let identity = ProcessIdentity(of: pid), let handle = try? ProcessHandle(identity),
                let mark = ExecutorMark(of: pid), mark.group == getpgid(pid), mark.host.liveness == .dead,
                !handle.hasEnded
            else { return nil }
            return handle
        }
    }
}
