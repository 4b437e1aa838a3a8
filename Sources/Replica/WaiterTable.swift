internal import CoreAPI
internal import StoreEngine
internal import Synchronization

/// The identity of a cursor in its table.
typealias WaiterID = UInt64

/// Identifies one wait, so that a cancellation ends exactly this wait. A cancellation handler may run before the wait
/// has begun.
final class WaitTicket: Sendable {
    let isCancelled = Atomic(false)
}

/// Cursors, and the continuations of the tasks that wait at them. Guarded by its owner's lock.
struct WaiterTable<Cursor: ReplicaCursor> {
    typealias WaitResult = Result<Cursor.Element?, SharedCoreError>
    typealias Continuation = CheckedContinuation<WaitResult, Never>

    /// A waiter to resume, and the result for it.
    struct Woken {
        let id: WaiterID
        let continuation: Continuation
        let result: WaitResult
    }

    private struct Waiter {
        let ticket: WaitTicket
        let continuation: Continuation
    }

    private struct Slot {
        var cursor: Cursor
        let session: SessionID
        let isParticipant: Bool
        var end: WaitResult?
        var waiters: [Waiter] = []
    }

    private var slots: [WaiterID: Slot] = [:]
    private var waiting: Set<WaiterID> = []
    private var lastID: WaiterID = 0

    var count: Int { slots.count }

    mutating func add(_ cursor: Cursor, of session: SessionID, isParticipant: Bool) -> WaiterID {
        lastID += 1
        slots[lastID] = Slot(cursor: cursor, session: session, isParticipant: isParticipant)
        return lastID
    }

    /// Returns the next element or the end; nil after the continuation was added to the waiters.
    mutating func next(
        of id: WaiterID, in state: inout StoreState, ticket: WaitTicket, _ continuation: Continuation
    ) -> WaitResult? {
        if ticket.isCancelled.load(ordering: .relaxed) { return .success(nil) }
        guard var slot = slots[id] else { return .success(nil) }
        if let end = slot.end { return end }
        if slot.isParticipant, !state.hasSession(slot.session) { return .failure(.sessionEnded(slot.session)) }
        let element = slot.cursor.takeNext(in: &state)
        if element == nil {
            slot.waiters.append(Waiter(ticket: ticket, continuation: continuation))
            waiting.insert(id)
        }
        slots[id] = slot
        return element.map { .success($0) }
    }

    /// Changes a cursor without a waiter.
    mutating func change(_ id: WaiterID, _ change: (inout Cursor) -> Void) {
        if var slot = slots[id] {
            change(&slot.cursor)
            slots[id] = slot
        }
    }

    /// Removes a wait from the table because its task was cancelled.
    mutating func abandon(_ ticket: WaitTicket, of id: WaiterID) -> Continuation? {
        guard let position = slots[id]?.waiters.firstIndex(where: { $0.ticket === ticket }) else { return nil }
        let waiter = slots[id]?.waiters.remove(at: position)
        if slots[id]?.waiters.isEmpty == true { waiting.remove(id) }
        return waiter?.continuation
    }

    /// Removes each waiter that has something to deliver in this state.
    mutating func takeReady(in state: inout StoreState, into woken: inout [Woken]) {
        for id in waiting {
            guard var slot = slots[id] else { continue }
            guard !slot.isParticipant || state.hasSession(slot.session) else {
                finish(slot, with: .failure(.sessionEnded(slot.session)), id, into: &woken)
                continue
            }
            while let waiter = slot.waiters.first, let element = slot.cursor.takeNext(in: &state) {
                slot.waiters.removeFirst()
                woken.append(Woken(id: id, continuation: waiter.continuation, result: .success(element)))
            }
            if slot.waiters.isEmpty { waiting.remove(id) }
            slots[id] = slot
        }
    }

    /// Removes a cursor, and ends its waiters. Returns whether it existed.
    mutating func remove(_ id: WaiterID, into woken: inout [Woken]) -> Bool {
        guard let slot = slots.removeValue(forKey: id) else { return false }
        for waiter in slot.waiters {
            woken.append(Woken(id: id, continuation: waiter.continuation, result: .success(nil)))
        }
        waiting.remove(id)
        return true
    }

    mutating func finish(_ session: SessionID, with error: SharedCoreError?, into woken: inout [Woken]) {
        for (id, slot) in slots where slot.session == session && slot.end == nil {
            finish(slot, with: error.map { .failure($0) } ?? .success(nil), id, into: &woken)
        }
    }

    mutating func finishAll(with error: SharedCoreError, into woken: inout [Woken]) {
        for (id, slot) in slots where slot.end == nil { finish(slot, with: .failure(error), id, into: &woken) }
    }

    private mutating func finish(_ slot: Slot, with end: WaitResult, _ id: WaiterID, into woken: inout [Woken]) {
        for waiter in slot.waiters { woken.append(Woken(id: id, continuation: waiter.continuation, result: end)) }
        var ended = slot
        ended.end = end
        ended.waiters = []
        slots[id] = ended
        waiting.remove(id)
    }
}

/// A position in a state that yields the elements after it.
protocol ReplicaCursor: Sendable {
    associatedtype Element: Sendable

    /// Takes the next element; nil if there is none in this state.
    mutating func takeNext(in state: inout StoreState) -> Element?
}

extension WatchCursor: ReplicaCursor {
    mutating func takeNext(in state: inout StoreState) -> PendingWatchEvent? {
        next(in: &state)
    }
}

extension ObservationCursor: ReplicaCursor {
    mutating func takeNext(in state: inout StoreState) -> NotificationDelivery? {
        next(in: state)
    }
}
