internal import CoreAPI
internal import Platform

/// What the Executors of hosts that were killed have left running.
enum ExecutorLeftovers {
    /// What came of ending leftovers.
    struct Ending: Hashable, Sendable {
        /// How many processes were ended.
        var count = 0
        /// Whether none is left.
        var isComplete = false
    }

    /// Ends the processes, and waits for their end. The kernel ends an Executor with its host, and not what a command has
    /// started in turn. One that has left the process group, as a daemon does, is left alone, and so is one of another user:
    /// any process can have any environment.
    ///
    /// - Parameters:
    ///   - timeout: How long to go on: a process that the kernel holds ends when it lets it.
    ///   - find: Gives the processes that are left.
    static func end(
        timeout: Duration = .seconds(10), found find: () -> [ProcessHandle] = all
    ) -> Ending {
        let deadline = ContinuousClock.now + timeout
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

    private static func all() -> [ProcessHandle] {
        let numbers = ((try? Directory(path: "/proc").names()) ?? []).compactMap { Int32($0) }
        return numbers.compactMap { pid in
            // Opened before it is looked at, so that what is signalled is what was looked at.
            guard let identity = ProcessIdentity(of: pid), let handle = try? ProcessHandle(identity),
                handle.user == OwnProcess.user, let mark = LaunchMark(of: pid, as: .executor),
                mark.pid == identity.processGroup,
                mark.parent.liveness == .dead,
                !handle.hasEnded
            else { return nil }
            return handle
        }
    }
}
