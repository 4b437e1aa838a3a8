#if Etcd
    internal import CoreAPI
    internal import StoreEngine
    internal import Synchronization

    /// The callers that wait until a condition on the state holds.
    final class Waiters: Sendable {
        typealias Condition = @Sendable (inout StoreState) -> Bool

        private struct Waiter {
            let condition: Condition
            let continuation: CheckedContinuation<Bool, Never>
        }

        private struct Content {
            var waiters: [UInt64: Waiter] = [:]
            var lastID: UInt64 = 0
            /// Waiters that are not resumed yet. Only for these a withdrawal is recorded.
            var open: Set<UInt64> = []
            /// Waiters that were withdrawn before they had begun.
            var abandoned: Set<UInt64> = []
        }

        private let content = Mutex(Content())

        /// Waits until a condition holds; returns false at the timeout, or if the task was cancelled.
        ///
        /// - Parameter look: Reads the state under its lock.
        func wait(
            until condition: @escaping Condition, timeout: Duration,
            look: @Sendable (Condition) -> Bool
        ) async -> Bool {
            if look(condition) { return true }
            let id = content.withLock { content in
                content.lastID += 1
                content.open.insert(content.lastID)
                return content.lastID
            }
            let timer = Task { [weak self] in
                guard (try? await Task.sleep(for: timeout)) != nil else { return }
                self?.abandon(id)
            }
            defer {
                timer.cancel()
                content.withLock { content in
                    content.open.remove(id)
                    content.abandoned.remove(id)
                }
            }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isAbandoned = content.withLock { content in
                        if content.abandoned.remove(id) != nil { return true }
                        content.waiters[id] = Waiter(condition: condition, continuation: continuation)
                        return false
                    }
                    // The condition may have become true before the waiter was registered.
                    if isAbandoned { continuation.resume(returning: false) } else if look(condition) { resume(id) }
                }
            } onCancel: {
                abandon(id)
            }
        }

        /// Resumes the callers with a condition that holds.
        func resume(where holds: (Condition) -> Bool) {
            let ready = content.withLock { content -> [Waiter] in
                guard !content.waiters.isEmpty else { return [] }
                let ready = content.waiters.filter { holds($0.value.condition) }
                for id in ready.keys { content.waiters[id] = nil }
                return Array(ready.values)
            }
            for waiter in ready { waiter.continuation.resume(returning: true) }
        }

        private func resume(_ id: UInt64) {
            content.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: true)
        }

        private func abandon(_ id: UInt64) {
            let waiter = content.withLock { content -> Waiter? in
                guard let waiter = content.waiters.removeValue(forKey: id) else {
                    if content.open.contains(id) { content.abandoned.insert(id) }
                    return nil
                }
                return waiter
            }
            waiter?.continuation.resume(returning: false)
        }
    }
#endif
