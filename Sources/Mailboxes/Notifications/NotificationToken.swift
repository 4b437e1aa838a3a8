public import CoreAPI

/// A handler that is called for the posts of one name, until it is cancelled.
///
/// Releasing the last reference cancels it.
///
/// Source: contract N6; the tokens of notify(3).
public final class NotificationToken: Sendable {
    private let notifications: Notifications
    private let gate: HandlerGate

    init(_ notifications: Notifications, _ gate: HandlerGate) {
        self.notifications = notifications
        self.gate = gate
    }

    deinit {
        gate.closeWithoutWaiting()
        notifications.cancel()
    }

    /// The observed name.
    public var name: NotificationName { notifications.name }

    /// Cancels the handler: after this has returned, it neither starts nor runs. Idempotent.
    ///
    /// It waits for a handler that runs on another thread at this moment, so a handler must not wait for the caller. A
    /// handler may also call it, for its own token or for another. In that case it does not wait: a running call is the
    /// last one.
    public func cancel() {
        gate.close()
        notifications.cancel()
    }

    /// Suspends the handler until ``resume()`` was called as often as this.
    public func suspend() {
        notifications.suspend()
    }

    /// Undoes one ``suspend()``. The handler is called at most once for all posts since then.
    ///
    /// - Returns: False when it was not suspended, and nothing changed.
    @discardableResult
    public func resume() -> Bool {
        notifications.resume()
    }

    /// Returns whether the name was posted since the last check, or, at the first one, since this was created.
    public func check() async throws(SharedCoreError) -> Bool {
        try await notifications.check()
    }

    /// Returns the name's present state.
    public func state() async throws(SharedCoreError) -> NotificationState {
        try await notifications.state()
    }
}
