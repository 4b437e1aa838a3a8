package import CoreAPI

/// Tells that an order has gone on. Letting go of it ends it.
package final class Follower: Sendable {
    private let produce: @Sendable () async throws(SharedCoreError) -> Revision?
    private let stop: @Sendable () -> Void

    init(
        next: @escaping @Sendable () async throws(SharedCoreError) -> Revision?, cancel: @escaping @Sendable () -> Void
    ) {
        produce = next
        stop = cancel
    }

    deinit {
        stop()
    }

    /// Waits until the order has gone on since the last call, and tells how far; nil when it was cancelled.
    package func next() async throws(SharedCoreError) -> Revision? {
        try await produce()
    }
}
