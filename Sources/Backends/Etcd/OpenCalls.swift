#if Etcd
    internal import Synchronization

    /// The calls of a participant that have not returned, so that its close can end them.
    final class OpenCalls: Sendable {
        private struct Content {
            var ends: [UInt64: @Sendable () -> Void] = [:]
            var lastID: UInt64 = 0
            var isOver = false
        }

        private let content = Mutex(Content())

        /// Runs a call in a task that the caller's cancellation ends as well.
        func run<Answer: Sendable>(_ body: @escaping @Sendable () async -> Answer) async -> Answer {
            let task = Task { await body() }
            let id = content.withLock { content -> UInt64 in
                content.lastID += 1
                if content.isOver { task.cancel() } else { content.ends[content.lastID] = { task.cancel() } }
                return content.lastID
            }
            defer { content.withLock { _ = $0.ends.removeValue(forKey: id) } }
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }

        /// Ends all calls, and those that are begun later.
        func cancelAll() {
            let ends = content.withLock { content -> [@Sendable () -> Void] in
                content.isOver = true
                return Array(content.ends.values)
            }
            for end in ends { end() }
        }
    }
#endif
