public import CoreAPI
internal import Synchronization

/// Wakes observers by name in all processes of a group, with calls like those of the Darwin notification center and of
/// notify(3).
///
/// A notification carries no payload except a 64-bit state word, by design: its content is in the store, and was
/// committed before the post. Names that begin with `self.` stay in this process.
///
/// ```swift
/// let center = SharedNotificationCenter(group)
/// let token = try await center.addObserver(forName: "settings.changed") { delivery in reload() }
/// try await center.post("settings.changed")
/// ```
///
/// Source: contract N.
public final class SharedNotificationCenter: Sendable {
    private let group: any CrossProcessNotifier
    private let observers = Mutex(ObserverTable())

    /// Makes the center of a group.
    public init(_ notifier: any CrossProcessNotifier) {
        group = notifier
    }

    /// Posts `name`, and wakes its observers in all processes.
    ///
    /// - Parameters:
    ///   - name: The name to post.
    ///   - state: The new state word, set atomically with the post; nil leaves it as it is.
    /// - Returns: The commit of the post.
    @discardableResult
    public func post(_ name: NotificationName, state: UInt64? = nil) async throws(SharedCoreError) -> Revision {
        try await notifier(of: name).post(name, state: state)
    }

    /// Returns the present state of `name`: the state word, and how often it was posted.
    public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await notifier(of: name).state(of: name)
    }

    /// Creates a check that reports whether `name` was posted since the last check.
    public func check(of name: NotificationName) async throws(SharedCoreError) -> NotificationCheck {
        let notifier = notifier(of: name)
        return NotificationCheck(of: name, on: notifier, since: try await notifier.state(of: name).count)
    }

    /// Starts delivering the posts of `name`. Each post that begins after this call has returned is delivered.
    public func notifications(named name: NotificationName) async throws(SharedCoreError) -> Notifications {
        let notifier = notifier(of: name)
        let observation = try await notifier.observe(name)
        // The observation was armed before this read, so each post after the state that is read is delivered.
        let state = try await notifier.state(of: name)
        let check = NotificationCheck(of: name, on: notifier, since: state.count)
        return Notifications(observation, check, after: state.revision)
    }

    /// Cancels every registration of an observer that was added with ``addObserver(_:forName:using:)``, or those for
    /// one name. After this has returned, none of its handlers starts or runs, as with ``NotificationToken/cancel()``.
    public func removeObserver(_ observer: AnyObject, forName name: NotificationName? = nil) {
        for token in observers.withLock({ $0.remove(observer, forName: name) }) { token.cancel() }
    }

    /// Keeps a registration for as long as its observer lives.
    func keep(_ token: NotificationToken, for observer: any AnyObject & Sendable) {
        // Replaced registrations are released without the lock.
        let gone = observers.withLock { $0.keep(token, for: observer) }
        withExtendedLifetime(gone) {}
    }

    /// Ends the registrations of released observers.
    func sweep() {
        let gone = observers.withLock { $0.sweep() }
        withExtendedLifetime(gone) {}
    }

    private func notifier(of name: NotificationName) -> any CrossProcessNotifier {
        ProcessNotifier.owns(name) ? ProcessNotifier.shared : group
    }
}

/// Handlers. Each of these returns armed: a post that begins after the call has returned is delivered. Calls of one
/// handler never overlap, and posts that arrive while it runs are merged into one delivery. After the session has
/// ended, a handler is no longer called; a caller that must learn of this uses ``notifications(named:)``, which throws.
extension SharedNotificationCenter {
    /// Calls a handler for the posts of `name`, on no particular thread.
    ///
    /// - Returns: The registration, which ends when it is released.
    public func addObserver(
        forName name: NotificationName, using handler: @escaping @Sendable (NotificationDelivery) -> Void
    ) async throws(SharedCoreError) -> NotificationToken {
        try await register(name, .anywhere(handler))
    }

    /// Calls a handler for the posts of `name` on the main actor.
    ///
    /// - Returns: The registration, which ends when it is released.
    public func addObserver(
        forName name: NotificationName, onMain handler: @escaping @MainActor @Sendable (NotificationDelivery) -> Void
    ) async throws(SharedCoreError) -> NotificationToken {
        try await register(name, .main(handler))
    }

    /// Calls a handler for the posts of `name` on an actor.
    ///
    /// - Returns: The registration, which ends when it is released.
    public func addObserver<Host: Actor>(
        forName name: NotificationName, on host: Host,
        using handler: @escaping @Sendable (isolated Host, NotificationDelivery) -> Void
    ) async throws(SharedCoreError) -> NotificationToken {
        try await register(name, .on(host, handler))
    }

    /// Calls a handler for the posts of `name` for as long as an object lives and ``removeObserver(_:forName:)`` was
    /// not called for it. The object is not kept alive, and observing ends when it is released.
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

/// The registrations of each observer. It keeps no observer alive.
struct ObserverTable {
    private struct Record {
        weak var observer: (any AnyObject & Sendable)?
        var tokens: [NotificationToken]
    }

    private var records: [ObjectIdentifier: Record] = [:]

    /// Keeps a registration for its observer, and removes those of released observers.
    ///
    /// - Returns: The registrations of released observers, for the caller to release.
    mutating func keep(_ token: NotificationToken, for observer: any AnyObject & Sendable) -> [NotificationToken] {
        let gone = sweep()
        records[ObjectIdentifier(observer), default: Record(observer: observer, tokens: [])].tokens.append(token)
        return gone
    }

    mutating func remove(_ observer: AnyObject, forName name: NotificationName?) -> [NotificationToken] {
        let id = ObjectIdentifier(observer)
        guard let record = records[id] else { return [] }
        let removed = record.tokens.filter { name == nil || $0.name == name }
        records[id]?.tokens.removeAll { name == nil || $0.name == name }
        if records[id]?.tokens.isEmpty == true { records[id] = nil }
        return removed
    }

    /// Removes the registrations of released observers.
    ///
    /// - Returns: The removed registrations, for the caller to release.
    mutating func sweep() -> [NotificationToken] {
        // Remove released observers before each lookup, because a new object may have the address of a released one.
        let gone = records.filter { $0.value.observer == nil }
        for id in gone.keys { records[id] = nil }
        return gone.values.flatMap(\.tokens)
    }
}
