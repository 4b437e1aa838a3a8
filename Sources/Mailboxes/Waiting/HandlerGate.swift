internal import Synchronization

/// Lets a handler run until it is closed: after ``close()`` has returned, the handler neither starts nor runs any more.
///
/// Closing waits for a handler that is running on another thread, but never for one when it is called from inside a
/// handler: then this one is the last.
///
/// Source: contract N6.
package final class HandlerGate: Sendable {
    /// The handler that the present code was called by, or a task that a handler began.
    @TaskLocal private static var call: HandlerCall?

    private let isOpen = Atomic(true)
    private let running = Mutex(())

    package init() {}

    /// Runs a handler, unless the gate is closed.
    ///
    /// - Returns: Whether it ran.
    package func run(_ handler: () -> Void) -> Bool {
        running.withLock { _ in
            guard isOpen.load(ordering: .acquiring) else { return false }
            let call = HandlerCall()
            defer { call.end() }
            Self.$call.withValue(call, operation: handler)
            return true
        }
    }

    /// Closes the gate. Idempotent.
    package func close() {
        isOpen.store(false, ordering: .releasing)
        // Two handlers that close each other's gates must not wait for each other.
        if Self.call?.isHere != true { running.withLock { _ in } }
    }

    /// Closes the gate without waiting for a handler that runs.
    package func closeWithoutWaiting() {
        isOpen.store(false, ordering: .releasing)
    }
}
