internal import CoreAPI
internal import Platform
internal import Synchronization

/// The thread of this process that waits for the ends of others, for all of its groups.
final class ProcessEnds: Sendable {
    private struct State {
        var awaited: [UInt64: (process: ProcessHandle, call: @Sendable () -> Void)] = [:]
        var lastKey: UInt64 = 0
    }

    private static let started = Mutex<ProcessEnds?>(nil)

    private let readiness: ReadinessSet
    private let state = Mutex(State())

    /// - Throws: When the system has no descriptor or no thread left; the next call tries again.
    static func shared() throws(SystemCallError) -> ProcessEnds {
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

    /// Calls once when a process has ended, on the thread that waits: the call must not block.
    ///
    /// - Returns: What lets go of it again.
    func wait(
        for process: ProcessHandle, _ call: @escaping @Sendable () -> Void
    ) throws(SystemCallError) -> UInt64 {
        let key = state.withLock { state in
            state.lastKey += 1
            state.awaited[state.lastKey] = (process, call)
            return state.lastKey
        }
        do throws(SystemCallError) {
            try readiness.addEdges(of: process.descriptor, key: key)
        } catch {
            forget(key)
            throw error
        }
        return key
    }

    /// Waits for a process no longer.
    func forget(_ key: UInt64) {
        // The last reference closes the descriptor, which takes it out of the set.
        _ = state.withLock { $0.awaited.removeValue(forKey: key) }
    }

    private func run() {
        while let keys = readiness.wait() {
            for key in keys { state.withLock { $0.awaited.removeValue(forKey: key) }?.call() }
        }
    }
}
