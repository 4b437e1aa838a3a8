package import CoreAPI
package import StoreEngine
internal import Synchronization

/// A store's state behind one lock, and the callers that wait for changes: the part that every backend has in each
/// process.
///
/// Watches and observations are cursors into the state. So a waiting consumer is woken with its event, and a consumer
/// that does not wait takes no memory for events. No consumer is woken under the lock.
package final class Replica: Sendable {
    private struct Content: ~Copyable {
        var state: StoreState
        var watches = WaiterTable<WatchCursor>()
        var observations = WaiterTable<ObservationCursor>()
        var followers = FollowerTable()

        mutating func takeReady(into woken: inout WokenWaiters) {
            watches.takeReady(in: &state, into: &woken.watches)
            observations.takeReady(in: &state, into: &woken.observations)
            followers.takeReady(at: state.revision, into: &woken.followers)
        }
    }

    private let content: Mutex<Content>

    package init(_ state: consuming StoreState) {
        content = Mutex(Content(state: state))
    }

    /// Reads the state.
    package func read<Result, Failure: Error>(
        _ body: (inout StoreState) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try change(body)
    }

    /// Changes the state, then wakes every watch and observation that has something to deliver.
    ///
    /// They are woken even if `body` throws, for the changes that it had applied before.
    package func update<Result, Failure: Error>(
        _ body: (inout StoreState) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        var woken = WokenWaiters()
        defer { woken.resume() }
        return try content.withLock { content throws(Failure) in
            let before = content.state.revision
            defer {
                if content.state.revision != before { content.takeReady(into: &woken) }
            }
            return try body(&content.state)
        }
    }

    /// Changes the state and wakes no waiter: for a caller that holds a lock of its own, and calls ``wake()`` after it
    /// on every path, including errors.
    package func change<Result, Failure: Error>(
        _ body: (inout StoreState) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try content.withLock { content throws(Failure) in try body(&content.state) }
    }

    /// Wakes every watch and observation that has something to deliver.
    package func wake() {
        var woken = WokenWaiters()
        content.withLock { $0.takeReady(into: &woken) }
        woken.resume()
    }

    /// Ends all watches and observations of a session: with the error, or as closed by their user when it is nil.
    package func finish(_ session: SessionID, with error: SharedCoreError?) {
        var woken = WokenWaiters()
        content.withLock { content in
            content.watches.finish(session, with: error, into: &woken.watches)
            content.observations.finish(session, with: error, into: &woken.observations)
        }
        woken.resume()
    }

    /// Ends all watches and observations with an error and tells the followers, for a group that cannot continue.
    package func fail(with error: SharedCoreError) {
        var woken = WokenWaiters()
        content.withLock { content in
            content.watches.finishAll(with: error, into: &woken.watches)
            content.observations.finishAll(with: error, into: &woken.observations)
            content.followers.fail(with: error, into: &woken.followers)
        }
        woken.resume()
    }

    /// Why the group cannot go on; nil while it does.
    package var failure: SharedCoreError? { content.withLock { $0.followers.failure } }

    /// Returns a watch of a session.
    ///
    /// - Parameters:
    ///   - isParticipant: Whether the session is in the order, so that its end ends the watch.
    ///   - catchUp: Brings the state up to date; called before each read.
    ///   - onCancel: Called once when the watch is cancelled or released.
    package func watch(
        _ prefixes: [KeyPrefix], from start: WatchStart, for session: SessionID, isParticipant: Bool = true,
        catchUp: @escaping @Sendable () throws(SharedCoreError) -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) -> Watch {
        let id = content.withLock { content in
            content.watches.add(
                WatchCursor(prefixes: prefixes, start: start, in: content.state), of: session,
                isParticipant: isParticipant)
        }
        return Watch(
            next: { () async throws(SharedCoreError) -> WatchEvent? in
                try catchUp()
                let pending = try await self.nextWatchEvent(of: id)
                do throws(SharedCoreError) {
                    return try pending?.event()
                } catch {
                    // The values of the event can no longer be fetched, so the watch continues with `lagged` and a
                    // snapshot.
                    guard error.code == .corrupt else { throw error }
                    self.content.withLock { $0.watches.change(id) { $0.lose() } }
                    try catchUp()
                    return try await self.nextWatchEvent(of: id)?.event()
                }
            },
            cancel: {
                var woken = WokenWaiters()
                let removed = self.content.withLock { $0.watches.remove(id, into: &woken.watches) }
                woken.resume()
                if removed { onCancel() }
            })
    }

    /// Returns an observation of a session. See ``watch(_:from:for:catchUp:onCancel:)``.
    package func observe(
        _ name: NotificationName, for session: SessionID, isParticipant: Bool = true,
        catchUp: @escaping @Sendable () throws(SharedCoreError) -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) -> Observation {
        let id = content.withLock { content in
            content.observations.add(
                ObservationCursor(name: name, in: content.state), of: session, isParticipant: isParticipant)
        }
        return Observation(
            next: { () async throws(SharedCoreError) -> NotificationDelivery? in
                try catchUp()
                return try await self.nextDelivery(of: id)
            },
            cancel: {
                var woken = WokenWaiters()
                let removed = self.content.withLock { $0.observations.remove(id, into: &woken.observations) }
                woken.resume()
                if removed { onCancel() }
            })
    }

    /// The number of open watches and observations.
    package var openCursorCount: Int {
        content.withLock { $0.watches.count + $0.observations.count }
    }

    /// Registers a follower, which is only notified that the order has advanced, or that the group cannot continue.
    ///
    /// - Parameters:
    ///   - onFailure: Called once when the group cannot continue, even if that was earlier.
    ///   - notify: Called for each advance, on the thread that has noticed it and without the lock. Spurious
    ///     calls are possible, including a last one after the follower was released.
    package func follow(
        after revision: Revision, onFailure: @escaping @Sendable (SharedCoreError) -> Void,
        _ notify: @escaping @Sendable () -> Void
    ) -> Follower {
        let (id, failure) = content.withLock { content in
            (content.followers.add(after: revision, onFailure: onFailure, notify), content.followers.failure)
        }
        if let failure { onFailure(failure) }
        // Changes may have been made before the follower was registered, so wake it once.
        wake()
        return Follower { [weak self] in self?.content.withLock { $0.followers.remove(id) } }
    }

    private func nextWatchEvent(of id: WaiterID) async throws(SharedCoreError) -> PendingWatchEvent? {
        try await next(
            take: { content, ticket, continuation in
                content.watches.next(of: id, in: &content.state, ticket: ticket, continuation)
            }, abandon: { content, ticket in content.watches.abandon(ticket, of: id) })
    }

    private func nextDelivery(of id: WaiterID) async throws(SharedCoreError) -> NotificationDelivery? {
        try await next(
            take: { content, ticket, continuation in
                content.observations.next(of: id, in: &content.state, ticket: ticket, continuation)
            }, abandon: { content, ticket in content.observations.abandon(ticket, of: id) })
    }

    /// Takes the next element, or waits for it until the task is cancelled.
    private func next<Element: Sendable>(
        take: (inout Content, WaitTicket, CheckedContinuation<Result<Element?, SharedCoreError>, Never>) -> Result<
            Element?, SharedCoreError
        >?,
        abandon:
            @Sendable (inout Content, WaitTicket) -> CheckedContinuation<
                Result<Element?, SharedCoreError>, Never
            >?
    ) async throws(SharedCoreError) -> Element? {
        let ticket = WaitTicket()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = content.withLock { take(&$0, ticket, continuation) }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            ticket.isCancelled.store(true, ordering: .relaxed)
            let waiter = content.withLock { abandon(&$0, ticket) }
            waiter?.resume(returning: .success(nil))
        }.get()
    }
}

/// The waiters with something to deliver, which are resumed after the lock is released.
private struct WokenWaiters {
    var watches: [WaiterTable<WatchCursor>.Woken] = []
    var observations: [WaiterTable<ObservationCursor>.Woken] = []
    var followers: [@Sendable () -> Void] = []

    func resume() {
        Self.resume(watches)
        Self.resume(observations)
        for notify in followers { notify() }
    }

    /// Resumes waiters in the order of their arrival, not in that of a hash table, so that simulations are
    /// reproducible.
    private static func resume<Cursor: ReplicaCursor>(_ waiters: [WaiterTable<Cursor>.Woken]) {
        for waiter in waiters.sorted(by: { $0.id < $1.id }) { waiter.continuation.resume(returning: waiter.result) }
    }
}

/// The followers, which are only notified that the order has advanced. Guarded by its owner's lock.
struct FollowerTable {
    private struct Slot {
        var seen: Revision
        let onFailure: @Sendable (SharedCoreError) -> Void
        let notify: @Sendable () -> Void
    }

    private var slots: [WaiterID: Slot] = [:]
    private var lastID: WaiterID = 0
    /// Why the group cannot go on; nil while it does.
    private(set) var failure: SharedCoreError?

    mutating func add(
        after revision: Revision, onFailure: @escaping @Sendable (SharedCoreError) -> Void = { _ in },
        _ notify: @escaping @Sendable () -> Void
    ) -> WaiterID {
        lastID += 1
        slots[lastID] = Slot(seen: revision, onFailure: onFailure, notify: notify)
        return lastID
    }

    /// Records that the group cannot continue, and returns the followers to notify, each once.
    mutating func fail(with error: SharedCoreError, into notified: inout [@Sendable () -> Void]) {
        guard failure == nil else { return }
        failure = error
        for slot in slots.values { notified.append { slot.onFailure(error) } }
    }

    mutating func remove(_ id: WaiterID) {
        slots[id] = nil
    }

    /// Finds the followers to notify at a revision.
    mutating func takeReady(at revision: Revision, into notified: inout [@Sendable () -> Void]) {
        guard !slots.isEmpty else { return }
        for (id, slot) in slots where slot.seen < revision {
            slots[id]?.seen = revision
            notified.append(slot.notify)
        }
    }
}

/// A registration for notifications that an order has advanced. Releasing it ends it.
package final class Follower: Sendable {
    private let stop: @Sendable () -> Void

    init(stop: @escaping @Sendable () -> Void) {
        self.stop = stop
    }

    deinit {
        stop()
    }
}
