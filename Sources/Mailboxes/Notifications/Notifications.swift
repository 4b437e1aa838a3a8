public import CoreAPI
internal import Synchronization

/// The posts of one name, as an asynchronous sequence that can be suspended.
///
/// Posts that arrive while no consumer takes them, or while the sequence is suspended, are merged into one delivery
/// with their number. It has one consumer at a time. Releasing the last reference cancels it.
///
/// Source: contract N3, N6.
public final class Notifications: AsyncSequence, Sendable {
    public typealias Element = NotificationDelivery
    public typealias Failure = SharedCoreError

    /// The name that is observed.
    public var name: NotificationName { checking.name }

    private let observation: Observation
    private let checking: NotificationCheck
    private let slot: DeliverySlot

    /// Makes the sequence of an observation.
    ///
    /// - Parameter check: Must have been created after the observation was armed.
    init(_ observation: Observation, _ check: NotificationCheck, after revision: Revision) {
        self.observation = observation
        self.checking = check
        slot = DeliverySlot(after: revision)
        // The task holds only the slot, so that releasing this object ends it.
        Task { [slot] in
            do throws(SharedCoreError) {
                while let delivery = try await observation.next() { slot.add(delivery) }
                slot.end()
            } catch {
                slot.end(error)
            }
        }
    }

    deinit {
        cancel()
    }

    /// Ends the sequence at once; waiting deliveries are dropped. Idempotent.
    public func cancel() {
        slot.cancel()
        observation.cancel()
    }

    /// Suspends deliveries until ``resume()`` was called as often as this.
    public func suspend() {
        slot.suspend()
    }

    /// Undoes one ``suspend()``. The posts since then arrive as at most one delivery.
    ///
    /// - Returns: False when it was not suspended, and nothing changed.
    @discardableResult
    public func resume() -> Bool {
        slot.resume()
    }

    /// Returns whether the name was posted since the last check, or, at the first one, since this was created. It
    /// consumes no delivery, and works while suspended.
    public func check() async throws(SharedCoreError) -> Bool {
        try await checking.check()
    }

    /// Returns the state under the name now.
    public func state() async throws(SharedCoreError) -> NotificationState {
        try await checking.state()
    }

    /// Waits for the next delivery; nil after the end.
    public nonisolated(nonsending) func next() async throws(SharedCoreError) -> NotificationDelivery? {
        try await taking()
    }

    /// The function that takes deliveries. It has no reference to this object, so a task that waits in it does not keep
    /// the object alive.
    var taking: @Sendable () async throws(SharedCoreError) -> NotificationDelivery? {
        { [slot, checking] () async throws(SharedCoreError) in
            try await slot.next { () async throws(SharedCoreError) in try await checking.state().revision }
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(notifications: self)
    }

    /// Takes deliveries from the sequence that made it.
    public struct Iterator: AsyncIteratorProtocol {
        let notifications: Notifications

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> NotificationDelivery? {
            try await notifications.next()
        }
    }
}

/// Checks whether a name was posted since the last check, without an observation.
///
/// Source: contract N5; `notify_check` of notify(3).
public final class NotificationCheck: Sendable {
    /// The checked name.
    public let name: NotificationName
    private let notifier: any CrossProcessNotifier
    private let lastCount: Mutex<UInt64>

    init(of name: NotificationName, on notifier: any CrossProcessNotifier, since count: UInt64) {
        self.name = name
        self.notifier = notifier
        self.lastCount = Mutex(count)
    }

    /// Returns whether the name was posted since the last check, or, at the first one, since this was created.
    public func check() async throws(SharedCoreError) -> Bool {
        let count = try await notifier.state(of: name).count
        // Two simultaneous checks count one after the other.
        return lastCount.withLock { last in
            defer { last = max(last, count) }
            return count > last
        }
    }

    /// Returns the state under the name now.
    public func state() async throws(SharedCoreError) -> NotificationState {
        try await notifier.state(of: name)
    }
}
