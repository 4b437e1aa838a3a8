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
            let timer: Task<Void, Never>
        }

        private let waiters = Mutex<[WaitID: Waiter]>([:])

        /// Waits until a condition holds; returns false at the timeout, or if the task was cancelled.
        ///
        /// - Parameter look: Reads the state under its lock.
        func wait(
            until condition: @escaping Condition, timeout: Duration,
            look: @Sendable (Condition) -> Bool
        ) async -> Bool {
            if look(condition) { return true }
            let id = WaitID()
            return await withCancellableContinuation(cancelled: false) { continuation in
                waiters.withLock { waiters in
                    let timer = Task { [weak self] in
                        guard (try? await Task.sleep(for: timeout)) != nil else { return }
                        self?.remove(id)?.resume(returning: false)
                    }
                    waiters[id] = Waiter(condition: condition, continuation: continuation, timer: timer)
                }
                // The condition may have become true before this waiter was registered.
                if look(condition) { remove(id)?.resume(returning: true) }
                return nil
            } leave: {
                remove(id)
            }
        }

        /// Resumes the callers with a condition that holds.
        func resume(where holds: (Condition) -> Bool) {
            let ready = waiters.withLock { $0.filter { holds($0.value.condition) }.keys }
            for id in ready { remove(id)?.resume(returning: true) }
        }

        private func remove(_ id: WaitID) -> CheckedContinuation<Bool, Never>? {
            let waiter = waiters.withLock { $0.removeValue(forKey: id) }
            waiter?.timer.cancel()
            return waiter?.continuation
        }
    }
#endif
