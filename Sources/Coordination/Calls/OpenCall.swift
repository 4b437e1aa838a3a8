public import CoreAPI

extension CoreContext {
    /// Begins a call. One commit writes its record and the activity that keeps this core while the call is open.
    ///
    /// The call lasts until ``OpenCall/end(_:)``. A call that is open when its ownership ends is lost. It replaces an
    /// ended call of the same id. If the same call is open already, it is returned with its state and media unchanged.
    ///
    /// Source: contract C23, C17.
    ///
    /// - Parameters:
    ///   - call: The description of the call.
    ///   - state: The state of the call.
    ///   - moves: The kind of the ``Baton`` with which another core can continue the call; nil while none can. See
    ///     ``OpenCall/setMoves(_:needs:)``.
    ///   - needs: The part of the baton that this core needs. A call that needs the bytes alone also moves between two
    ///     machines, if both participants are clients of a hub that keeps batons.
    /// - Throws: As ``begin(_:id:expectedEnd:)``, so that no call begins while a Main waits for this core, or when the core is to stop;
    ///   ``SharedCoreError/Code/guardFailed`` also when another call of this id is open; ``SharedCoreError/Code/invalidArgument`` for
    ///   texts that are too long, for a state that is an end, and for a kind that breaks its rule.
    public func begin(
        call: CallDescription, in state: Call.State = .incoming, moves: String? = nil,
        needs: BatonNeed = .descriptors
    ) async throws(SharedCoreError) -> OpenCall {
        let key = try CallKey.record(of: call.id)
        var problem = state.isOpen ? call.problem : "A call does not begin with its end."
        if let moves, !Baton.isKind(moves) { problem = "“\(moves.prefix(64))” is not the kind of a baton." }
        if let problem { throw SharedCoreError(.invalidArgument, problem, at: key.text) }
        let now = clock.now()
        let record = CallRecord(call, in: state, began: now, bootID: clock.bootID)
        let activity = Activity(.call, id: call.id.text, begun: now, moves: moves, needs: needs)
        try await beginWork { () async throws(SharedCoreError) in
            try await changeCalls { consistency throws(SharedCoreError) in
                let former = try await store.get(key, consistency: consistency)
                if let former, isOpen(former) {
                    // The record exists already, for example because an earlier commit with an unknown outcome took
                    // effect.
                    if CallRecord(former.value)?.isRecord(of: call) == true { return nil }
                    throw SharedCoreError(
                        .guardFailed, "Another call with the id “\(call.id.text)” is open.", at: key.text)
                }
                var transaction = try await beginning(activity, consistency: consistency)
                transaction.require(former.map { .revision(key, $0.revision) } ?? .absent(key))
                transaction.put(key, record.bytes)
                return transaction
            }
        }
        return OpenCall(id: call.id, key: key, context: self)
    }

    /// Begins work as ``ActivityGate/begin(_:)`` does, and throws with the reason if none may begin.
    func beginWork(_ body: () async throws(SharedCoreError) -> Revision) async throws(SharedCoreError) {
        do throws(SharedCoreError) {
            try await gate.begin(body)
        } catch {
            throw OpenWork.refusal(of: error)
        }
    }

    /// Returns the transaction that begins the activity of a call. If an activity of the same id is open, it becomes
    /// the call's. Its record is written again, so that a concurrent commit that ends the activity fails on its
    /// revision guard.
    private func beginning(
        _ activity: Activity, consistency: ReadConsistency
    ) async throws(SharedCoreError) -> Transaction {
        let work = try await work(consistency: consistency)
        let open = work.open(under: epoch)
        if open.contains(where: { $0.isSameWork(as: activity) }) {
            return work.keeping(for: activity, under: epoch, reach: store.ownReach)
        }
        try ActivitiesRecord.requireRoom(beside: open)
        return work.beginning(activity, under: epoch, reach: store.ownReach)
    }

    /// Returns the owner's work at one revision. Separate reads of the records could return two different revisions.
    func work(consistency: ReadConsistency) async throws(SharedCoreError) -> OpenWork {
        OpenWork(try await store.list(OwnershipKey.path, consistency: consistency))
    }

    /// Checks that an activity does not belong to an open call.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` if it does: the end of the call ends the activity.
    func requireNoCall(with activity: Activity, consistency: ReadConsistency) async throws(SharedCoreError) {
        guard activity.kind.name == Activity.Kind.call.name else { return }
        let calls = try await store.list(CallKey.records, consistency: consistency).entries.filter(isOpen)
        guard calls.contains(where: { CallRecord($0.value).map { activity.isWork(of: $0.call.id) } ?? false }) else {
            return
        }
        throw SharedCoreError(
            .guardFailed, "The activity belongs to a call, and ends only with it.", at: OwnershipKey.activities.text)
    }

    /// Returns true if the entry is the record of a call that is open here.
    func isOpen(_ entry: Entry) -> Bool {
        !entry.isOlder(than: epoch) && CallRecord(entry.value)?.state.isOpen == true
    }

    /// Commits a change of calls, and tries again if another commit came first.
    ///
    /// - Parameters:
    ///   - keys: Further keys for which a failed guard means that another commit came first.
    ///   - change: The transaction; nil when there is nothing to change.
    /// - Returns: The revision of the commit; zero if nothing was changed.
    func changeCalls(
        alsoGuardedBy keys: [Key] = [],
        _ change: (ReadConsistency) async throws(SharedCoreError) -> Transaction?
    ) async throws(SharedCoreError) -> Revision {
        var consistency = ReadConsistency.causal
        while true {
            guard let transaction = try await change(consistency) else { return .zero }
            do throws(SharedCoreError) {
                return try await store.commit(transaction).revision
            } catch {
                guard let key = error.guardFailure?.condition.key,
                    OpenWork.isGuarded(by: key) || CallKey.records.contains(key) || keys.contains(key)
                else { throw error }
                consistency = .linearizable
            }
        }
    }

    /// Commits a change of a call that this core holds.
    ///
    /// - Parameters:
    ///   - state: The new state; nil to keep it.
    ///   - media: The new media; nil to keep them.
    fileprivate func change(
        _ call: OpenCall, to state: Call.State?, media: Call.Media?
    ) async throws(SharedCoreError) {
        let key = call.key
        _ = try await changeCalls { consistency throws(SharedCoreError) in
            guard let entry = try await store.get(key, consistency: consistency), isOpen(entry),
                var record = CallRecord(entry.value)
            else { throw call.isOver }
            if let media { record.media = media }
            if let state { record.change(to: state, at: clock.now()) }
            var transaction = Transaction(guards: [.revision(key, entry.revision)])
            guard case .ended? = state else {
                transaction.put(key, record.bytes)
                return transaction
            }
            transaction.put(key, record.bytes, lifetime: .expiring(after: callsLifetime))
            transaction.remove(
                CallRecord.surplus(
                    among: try await store.list(CallKey.records, consistency: consistency).entries, with: 1))
            let work = try await work(consistency: consistency)
            if let activity = work.activity(of: record, under: epoch),
                let ending = work.ending(activity, under: epoch)
            {
                transaction.guards += ending.guards
                transaction.operations += ending.operations
            }
            return transaction
        }
    }
}

extension CoreContext {
    /// The number of calls to end in one commit. A full group has no space for a larger commit (contract S10).
    private static let endedAtOnce = 4

    /// Ends, as lost, the calls that the cores of former ownerships have left open, and removes the surplus of ended
    /// calls. Removes unreadable records, and the progress of commands whose senders have ended.
    ///
    /// Source: contract C23.
    ///
    /// - Parameter spared: The calls that this core may go on with.
    func endLostCalls(butFor spared: Set<Key> = []) async throws(SharedCoreError) {
        while true {
            // The handle has seen its own acquisition and all earlier commits, so a causal read is enough.
            let entries = try await store.list(CallKey.all, consistency: .causal).entries
            let left = CallRecord.left(among: entries, before: epoch, butFor: spared)
            do throws(SharedCoreError) {
                for key in CallKey.leftovers(among: entries.map(\.key)) { _ = try await store.delete(key) }
                for first in stride(from: 0, to: left.count, by: Self.endedAtOnce) {
                    let some = left[first..<min(left.count, first + Self.endedAtOnce)]
                    _ = try await store.commit(CallRecord.ending(lost: some, at: clock.now(), for: callsLifetime))
                }
                let all = try await store.list(CallKey.records, consistency: .causal).entries
                var transaction = Transaction()
                transaction.remove(CallRecord.surplus(among: all))
                if !transaction.operations.isEmpty { _ = try await store.commit(transaction) }
                return
            } catch {
                // Another process has acknowledged one of the calls since they were read.
                guard let key = error.guardFailure?.condition.key, CallKey.records.contains(key) else { throw error }
                try await store.sync()
            }
        }
    }
}

/// A call that a core has begun.
///
/// Source: contract C23.
public struct OpenCall: Sendable {
    /// Its identifier.
    public let id: CallID

    let key: Key
    let context: CoreContext

    /// The error for a change of an ended call.
    var isOver: SharedCoreError {
        SharedCoreError(.guardFailed, "The call “\(id.text)” is over.", at: key.text)
    }

    /// Sets the state of the call and its media in one commit. A held call, for example, may have no media.
    ///
    /// - Parameters:
    ///   - state: The new state.
    ///   - media: The media from now on, as the level of its service allows; nil to keep them.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` if the call has ended or the core is superseded, in which case
    ///   its calls are lost; ``SharedCoreError/Code/invalidArgument`` for a reason that is too long.
    public func change(to state: Call.State, media: Call.Media? = nil) async throws(SharedCoreError) {
        if case .ended(let reason) = state, reason.text.utf8.count > CallDescription.maximumReasonByteCount {
            throw SharedCoreError(
                .invalidArgument,
                "The reason of a call's end has at most \(CallDescription.maximumReasonByteCount) bytes.", at: key.text)
        }
        try await context.change(self, to: state, media: media)
    }

    /// Sets the media of the call: none while the level of its service is `signalingOnly`.
    ///
    /// - Throws: As ``change(to:media:)``.
    public func change(media: Call.Media) async throws(SharedCoreError) {
        try await context.change(self, to: nil, media: media)
    }

    /// Sets the kind of baton with which the call can move from now on. Set nil while it cannot move, for example
    /// during a re-INVITE.
    ///
    /// While the call moves it delays no Main that takes batons of this kind. If that Main already waits for another
    /// activity, the call may be set to one that cannot move. The Main then waits for this call too (C17), unless it
    /// insists.
    ///
    /// Source: contract C25.
    ///
    /// - Parameters:
    ///   - kind: The kind of the ``Baton``; nil while the call cannot move.
    ///   - needs: The part of the baton that the next core needs.
    /// - Throws: As ``change(to:media:)``; ``SharedCoreError/Code/guardFailed`` also if the call is to stop being
    ///   movable and a Main that accepts it has asked for the core. Then begin nothing that cannot move: the core is
    ///   about to be told to stop. ``SharedCoreError/Code/invalidArgument`` for a kind that breaks its rule.
    public func setMoves(_ kind: String?, needs: BatonNeed = .descriptors) async throws(SharedCoreError) {
        if let kind, !Baton.isKind(kind) {
            throw SharedCoreError(.invalidArgument, "“\(kind.prefix(64))” is not the kind of a baton.", at: key.text)
        }
        try await context.setMoves(kind, needs: needs, of: self)
    }

    /// Ends the call, and the activity that kept the core for it, in one commit. A core must end its calls before its
    /// `stop` returns; calls that are still open then are lost.
    ///
    /// - Throws: As ``change(to:media:)``.
    public func end(_ reason: Call.EndReason) async throws(SharedCoreError) {
        try await change(to: .ended(reason))
    }
}
