public import CoreAPI

/// Handlers. Each of these returns armed: a post that begins after the call has returned is delivered. Calls of one
/// handler never overlap, and posts that come while it runs are one delivery. When the session ends, a handler is just
/// not called any more; whoever wants to know of it takes ``notifications(named:)``, which throws.
extension SharedNotificationCenter {
    /// Calls a handler for the posts of `name`, on no particular thread.
    ///
    /// - Returns: The registration, which ends when it is let go of.
    public func addObserver(
        forName name: NotificationName, using handler: @escaping @Sendable (NotificationDelivery) -> Void
    ) async throws(SharedCoreError) -> NotificationToken {
        try await register(name, .anywhere(handler))
    }

    /// Calls a handler for the posts of `name` on the main actor.
    ///
    /// - Returns: The registration, which ends when it is let go of.
    public func addObserver(
        forName name: NotificationName, onMain handler: @escaping @MainActor @Sendable (NotificationDelivery) -> Void
    ) async throws(SharedCoreError) -> NotificationToken {
        try await register(name, .main(handler))
    }

    /// Calls a handler for the posts of `name` on an actor.
    ///
    /// - Returns: The registration, which ends when it is let go of.
    public func addObserver<Host: Actor>(
        forName name: NotificationName, on host: Host,
        using handler: @escaping @Sendable (isolated Host, NotificationDelivery) -> Void
    ) async throws(SharedCoreError) -> NotificationToken {
        try await register(name, .on(host, handler))
    }

    /// Calls a handler for the posts of `name` for as long as an object lives and ``removeObserver(_:forName:)`` was not
    /// called for it. The object is not kept alive, and observing ends by itself when it goes away.
    public func addObserver<Observer: AnyObject & Sendable>(
        _ observer: Observer, forName name: NotificationName,
        using handler: @escaping @Sendable (Observer, NotificationDelivery) -> Void
    ) async throws(SharedCoreError) {
        let call = Handler<NotificationDelivery>.anywhere { [weak observer, weak self] delivery in
            if let observer { handler(observer, delivery) } else { self?.sweep() }
        }
        keep(try await register(name, call), for: observer)
    }

    private func register(
        _ name: NotificationName, _ handler: Handler<NotificationDelivery>
    ) async throws(SharedCoreError) -> NotificationToken {
        let notifications = try await notifications(named: name)
        let gate = HandlerGate()
        Task { [next = notifications.taking] in
            while let delivery = try? await next(), await handler.call(delivery, gate) {}
        }
        return NotificationToken(notifications, gate)
    }
}
