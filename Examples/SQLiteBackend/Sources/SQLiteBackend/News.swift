internal import CoreAPI
internal import Synchronization

/// Lets those who wait for a commit go on when there is one: this handle's own at once, others' by a look every 10 ms.
///
/// SQLite has no way to wake another process, so somebody has to look. Nobody does while nobody waits.
final class News: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
        var lastNumber = 0
        var isLooking = false
        var hasEnded = false
        var count: UInt64 = 0
    }

    private let state = Mutex(State())
    private let look: @Sendable () async -> Bool

    /// - Parameter look: Whether something has been committed since the last look.
    init(look: @escaping @Sendable () async -> Bool) {
        self.look = look
    }

    /// Rises with each ring: read it before looking, wait for a higher one after.
    var count: UInt64 { state.withLock(\.count) }

    /// Wakes everybody.
    func ring() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.count += 1
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Wakes everybody for good.
    func end() {
        state.withLock { $0.hasEnded = true }
        ring()
    }

    /// Returns when there was a ring after `count`, or when the task is cancelled.
    func wait(after count: UInt64) async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.hasEnded || state.count > count || state.cancelled.remove(number) != nil { return true }
                    state.waiting[number] = continuation
                    return false
                }
                // Only now that somebody waits: nobody looks while nobody does.
                if goesOn { continuation.resume() } else { startLooking() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                if let waiting = state.waiting.removeValue(forKey: number) { return Optional(waiting) }
                state.cancelled.insert(number)
                return nil
            }
            waiting?.resume()
        }
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    private func startLooking() {
        let starts = state.withLock { state in
            defer { state.isLooking = true }
            return !state.isLooking && !state.hasEnded
        }
        guard starts else { return }
        Task.detached { [weak self] in
            while let self, self.goesOnLooking() {
                if await self.look() { self.ring() }
                do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
            }
        }
    }

    private func goesOnLooking() -> Bool {
        state.withLock { state in
            state.isLooking = !state.waiting.isEmpty && !state.hasEnded
            return state.isLooking
        }
    }
}
