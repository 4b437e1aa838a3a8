public import CoreAPI
internal import Synchronization

/// Wakes observers by name in all processes of a group, with the calls that users of the Darwin notification center and
/// of notify(3) know.
///
/// A notification carries no payload but a 64-bit state word, by design: what there is to say stands in the store, and
/// was committed before the post. Names that begin with `self.` stay in this process.
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

    /// The center of a group.
    public init(_ notifier: any CrossProcessNotifier) {
        group = notifier
    }

    /// Counts one more post of `name` and wakes its observers, in this process and all others, whether there are any or
    /// not.
    ///
    /// - Parameters:
    ///   - name: What is posted.
    ///   - state: The new state word, which goes with the post atomically; nil leaves it as it is.
    /// - Returns: The commit of the post.
    @discardableResult
    public func post(_ name: NotificationName, state: UInt64? = nil) async throws(SharedCoreError) -> Revision {
        try await notifier(of: name).post(name, state: state)
    }

    /// What stands under `name` now: the state word, and how often it was posted.
    public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await notifier(of: name).state(of: name)
    }

    /// Begins to tell whether `name` was posted, when it is asked.
    public func check(of name: NotificationName) async throws(SharedCoreError) -> NotificationCheck {
        let notifier = notifier(of: name)
        return NotificationCheck(of: name, on: notifier, since: try await notifier.state(of: name).count)
    }

    /// Begins to deliver the posts of `name`. Returns armed: a post that begins after this has returned is delivered.
    public func notifications(named name: NotificationName) async throws(SharedCoreError) -> Notifications {
        let notifier = notifier(of: name)
        let observation = try await notifier.observe(name)
        // Armed first: whatever is posted after this state was read is delivered.
        let state = try await notifier.state(of: name)
        let check = NotificationCheck(of: name, on: notifier, since: state.count)
        return Notifications(observation, check, after: state.revision)
    }

    /// Cancels every registration of an observer that was added with ``addObserver(_:forName:using:)``, or those for one
    /// name. Once this has returned, none of its handlers starts or runs, as with ``NotificationToken/cancel()``.
    public func removeObserver(_ observer: AnyObject, forName name: NotificationName? = nil) {
        for token in observers.withLock({ $0.remove(observer, forName: name) }) { token.cancel() }
    }

    /// Keeps a registration for as long as its observer lives.
    func keep(_ token: NotificationToken, for observer: any AnyObject & Sendable) {
        // What is let go of is freed outside of the lock.
        let gone = observers.withLock { $0.keep(token, for: observer) }
        withExtendedLifetime(gone) {}
    }

    /// Ends the registrations of observers that went away.
    func sweep() {
        let gone = observers.withLock { $0.sweep() }
        withExtendedLifetime(gone) {}
    }

    private func notifier(of name: NotificationName) -> any CrossProcessNotifier {
        ProcessNotifier.owns(name) ? ProcessNotifier.shared : group
    }
}
