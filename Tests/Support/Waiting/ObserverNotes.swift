package import CoreAPI
internal import CoreAPITesting
internal import Platform
package import Synchronization

/// The progress of an observer, and its threads.
package final class ObserverNotes: Sendable {
    /// The state of the last post.
    package let posts = Atomic<UInt64>(0)
    /// The names of the threads.
    package let threads = Mutex<Set<String>>([])
    /// True once the blocking observers may continue.
    package let isReleased = Atomic(false)

    package init() {}

    package func note(_ post: UInt64) {
        let name = try? OpenFile(path: "/proc/thread-self/comm", .read).read(count: 16, at: 0)
        let text = String(decoding: (name ?? []).filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        threads.withLock { _ = $0.insert(text) }
        posts.store(post, ordering: .sequentiallyConsistent)
    }

    /// Blocks its thread until it is released.
    package func block() {
        waitOnThread(atMost: TestTimeout.long) { isReleased.load(ordering: .sequentiallyConsistent) }
    }

    /// Observes `name` with a task that notes each post, and blocks its thread then where it is told to.
    package func observe(
        _ group: some SharedGroup, on executor: (any TaskExecutor)?, blocking: Bool = false
    ) async throws -> Task<Void, any Error> {
        let posts = try await group.observe("name")
        return Task(executorPreference: executor) { [self] in
            for try await post in posts {
                note(post.state)
                if blocking { block() }
                // Leaves the thread and comes back.
                if post.state.isMultiple(of: 3) { try await Task.sleep(for: .milliseconds(1)) }
            }
        }
    }
}
