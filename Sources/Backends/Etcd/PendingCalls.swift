#if Etcd
    internal import Synchronization

    /// The calls of a participant that have not returned, so that its close can end them.
    final class PendingCalls: Sendable {
        private struct Content {
            var ends: [UInt64: @Sendable () -> Void] = [:]
            var lastID: UInt64 = 0
            var isOver = false
            /// The callers that wait until no call is open.
            var idle: [CheckedContinuation<Void, Never>] = []
        }

        private let content = Mutex(Content())

        /// Runs a call in a task that the caller's cancellation ends as well.
        func run<Answer: Sendable>(_ body: @escaping @Sendable () async -> Answer) async -> Answer {
            let task = Task { await body() }
            let (id, isOver) = content.withLock { content -> (UInt64, Bool) in
                content.lastID += 1
                content.ends[content.lastID] = { task.cancel() }
                return (content.lastID, content.isOver)
            }
            if isOver { task.cancel() }
            defer { leave(id) }
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }

        private func leave(_ id: UInt64) {
            let idle = content.withLock { content -> [CheckedContinuation<Void, Never>] in
                content.ends[id] = nil
                guard content.ends.isEmpty else { return [] }
                defer { content.idle = [] }
                return content.idle
            }
            for waiter in idle { waiter.resume() }
        }

        /// True if no call is open.
        var isEmpty: Bool { content.withLock { $0.ends.isEmpty } }

        /// Waits until no call is open.
        func untilEmpty() async {
            await withCheckedContinuation { continuation in
                let isEmpty = content.withLock { content in
                    if content.ends.isEmpty { return true }
                    content.idle.append(continuation)
                    return false
                }
                if isEmpty { continuation.resume() }
            }
        }

        /// Ends all calls, and those that begin later.
        func cancelAll() {
            let ends = content.withLock { content -> [@Sendable () -> Void] in
                content.isOver = true
                return Array(content.ends.values)
            }
            for end in ends { end() }
        }
    }
#endif
