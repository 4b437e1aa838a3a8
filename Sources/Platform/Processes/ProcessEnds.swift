public import CoreAPI
internal import Synchronization

extension ProcessIdentity {
    /// Waits until the process has ended. Returns at once if it has.
    ///
    /// A zombie, which is a child that its parent has not reaped yet, counts as ended. All waits in the calling process
    /// share one thread.
    ///
    /// - Throws: ``SharedCoreError/Code/cancelled`` when the task is cancelled; ``SharedCoreError/Code/unsupported`` if the process cannot be
    ///   seen, as from another container; ``SharedCoreError/Code/system`` if no descriptor or thread is left.
    public func waitForEnd() async throws(SharedCoreError) {
        let process: ProcessHandle
        do throws(ProcessUnreachable) {
            process = try ProcessHandle(self)
        } catch {
            switch error {
            case .dead: return
            case .unknown(let cause):
                throw SharedCoreError(
                    .unsupported, "The process cannot be seen from here.", at: "process \(pid)", cause: cause.text)
            }
        }
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let wait = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try ProcessEnds.shared().wait(for: process) { end.finish() }
        }
        for await _ in ends {}
        withExtendedLifetime(wait) {}
        if !process.hasEnded { throw .cancelled("process \(pid)") }
    }
}

/// The one thread of this process that waits for other processes to end, for all groups.
package final class ProcessEnds: Sendable {
    /// Waits for the end of one process, until it is released.
    package final class Wait: Sendable {
        private let ends: ProcessEnds
        private let key: UInt64

        fileprivate init(_ ends: ProcessEnds, _ key: UInt64) {
            self.ends = ends
            self.key = key
        }

        deinit {
            _ = ends.take(key)
        }
    }

    private struct State {
        var awaited: [UInt64: (process: ProcessHandle, call: @Sendable () -> Void)] = [:]
        var lastKey: UInt64 = 0
    }

    private static let started = Mutex<ProcessEnds?>(nil)

    private let readiness: ReadinessSet
    private let state = Mutex(State())

    /// Returns the thread, and starts it at the first call.
    ///
    /// - Throws: When the system has no descriptor or no thread left; the next call tries again.
    package static func shared() throws(SystemCallError) -> ProcessEnds {
        try started.withLock { started throws(SystemCallError) in
            if let started { return started }
            let service = try ProcessEnds()
            try OwnedThread.start("sc-ends") { service.run() }
            started = service
            return service
        }
    }

    private init() throws(SystemCallError) {
        readiness = try ReadinessSet()
    }

    /// Calls `call` once when a process has ended. The call runs on the shared thread, under no lock, and must not block.
    package func wait(
        for process: ProcessHandle, _ call: @escaping @Sendable () -> Void
    ) throws(SystemCallError) -> Wait {
        let key = state.withLock { state in
            state.lastKey += 1
            state.awaited[state.lastKey] = (process, call)
            return state.lastKey
        }
        let wait = Wait(self, key)
        try readiness.addEdges(of: process.descriptor, key: key)
        return wait
    }

    /// Ends the wait for a process. The last reference to its handle closes the descriptor, and the kernel then removes
    /// it from the set.
    private func take(_ key: UInt64) -> (@Sendable () -> Void)? {
        state.withLock { $0.awaited.removeValue(forKey: key) }?.call
    }

    private func run() {
        while let keys = readiness.wait() {
            for key in keys { take(key)?() }
        }
    }
}
