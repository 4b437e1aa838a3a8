public import CoreAPI
internal import Synchronization

/// The posts of one name, as an asynchronous sequence that can be suspended.
///
/// Posts that come while no consumer takes them, or while the sequence is suspended, are one delivery, which says how
/// many it stands for. It has one consumer at a time. Releasing the last reference cancels it.
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

    /// - Parameter check: Made after the observation was armed.
    init(_ observation: Observation, _ check: NotificationCheck, after revision: Revision) {
        self.observation = observation
        self.checking = check
        slot = DeliverySlot(after: revision)
        // Knows the slot alone, so that letting go of this object ends it.
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

    /// Holds deliveries back until ``resume()`` was called as often as this.
    public func suspend() {
        slot.suspend()
    }

    /// Takes one ``suspend()`` back. The posts since then come as one delivery, at most.
    ///
    /// - Returns: False when it was not suspended, and nothing changed.
    @discardableResult
    public func resume() -> Bool {
        slot.resume()
    }

    /// Returns whether the name was posted since the last check, or, at the first one, since this was made. It takes no
    /// delivery away, and works while suspended.
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

    /// The function that takes deliveries. It holds no reference to this object, so a task that takes does not keep it.
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

/// Tells whether anything was posted since it was asked last, without any event.
///
/// Source: contract N5; `notify_check` of notify(3).
public final class NotificationCheck: Sendable {
    /// The name that is checked.
    public let name: NotificationName
    private let notifier: any CrossProcessNotifier
    private let lastCount: Mutex<UInt64>

    init(of name: NotificationName, on notifier: any CrossProcessNotifier, since count: UInt64) {
        self.name = name
        self.notifier = notifier
        self.lastCount = Mutex(count)
    }

    /// Returns whether the name was posted since the last check, or, at the first one, since this was made.
    public func check() async throws(SharedCoreError) -> Bool {
        let count = try await notifier.state(of: name).count
        // Two checks at once are two checks: one of them comes first.
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
