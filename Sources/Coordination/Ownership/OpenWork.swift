package import CoreAPI

/// The recorded work of an owner: its activities, and the batons with which they move.
///
/// The two records change in one commit. Each change of an activity that may move guards both, so two commits cannot
/// mix two states.
///
/// Source: contract C17, C25.
package struct OpenWork: Sendable {
    private let view: OwnershipView
    private var activities: Standing<ActivitiesRecord>? { view.activities }
    private var moving: Standing<MovingRecord>? { view.moving }

    package init(_ view: OwnershipView) {
        self.view = view
    }

    /// Reads the work of the owner from a snapshot of the records of ownership.
    ///
    /// - Parameter snapshot: The entries under ``OwnershipKey/path``.
    init(_ snapshot: Snapshot) {
        var view = OwnershipView()
        // Applied at the latest instant, so that no beginning counts as one in the future: the reader has no clock of
        // the group.
        view.apply(snapshot, at: BootInstant(nanoseconds: .max))
        self.init(view)
    }

    /// Returns true if a failed guard on a key means that another commit came first: the caller must read and try
    /// again.
    static func isGuarded(by key: Key?) -> Bool { key == OwnershipKey.activities || key == OwnershipKey.moving }

    /// Returns the error of a call that begins work, with the reason where a guard of ``beginning(_:under:reach:)``
    /// failed.
    static func refusal(of error: SharedCoreError) -> SharedCoreError {
        guard let failure = error.guardFailure else { return error }
        let reason =
            switch failure.condition.key {
            case OwnershipKey.handover: "A Main waits for this core: it begins no activity any more."
            case OwnershipKey.rest: "The core rests: it begins no activity."
            case OwnershipKey.owner: "The core is superseded: it begins no activity any more."
            default: error.message
            }
        return SharedCoreError(
            error.code, reason, at: error.location, cause: error.cause, guardFailure: failure)
    }

    /// Returns true if this change of an activity would delay a pending request that no activity delays now. In that
    /// state the owner's core has been told to stop, or is about to be.
    package func wouldHoldUp(_ changed: Activity) -> Bool {
        guard let owner = view.owner, let handover = view.handover,
            view.activities(of: owner, holdingUp: handover) == nil
        else { return false }
        return !changed.moves(to: handover.record, over: view.reach(of: owner, to: handover))
    }

    /// The commit that wrote the activities last.
    var revision: Revision { activities?.revision ?? .zero }

    /// Returns the activities of an ownership, each with the baton with which it moves.
    package func open(under epoch: Revision) -> [Activity] {
        let open = ActivitiesRecord.open(under: epoch, in: activities)
        return moving.map { moving in open.map { moving.record.joined($0, of: epoch) } } ?? open
    }

    /// Returns the activity of a call; nil if it is not open.
    func activity(of call: CallRecord, under epoch: Revision) -> Activity? {
        open(under: epoch).first { $0.isWork(of: call.call.id) }
    }

    /// Returns the transaction that begins an activity. It fails while a request is pending and while the owner rests.
    /// It replaces the activities of an earlier ownership.
    ///
    /// - Parameter reach: The reach of the owner.
    package func beginning(_ activity: Activity, under epoch: Revision, reach: OwnReach = .machine) -> Transaction {
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        transaction.require(.absent(OwnershipKey.handover))
        transaction.require(.absent(OwnershipKey.rest))
        let present = open(under: epoch) + [activity]
        put(present, under: epoch, in: &transaction)
        if activity.moves != nil { putMoving(present, under: epoch, reach: reach, in: &transaction) }
        return transaction
    }

    /// Returns the transaction that writes the activities again unchanged, for a call that takes over the open activity
    /// of its id. It fails while a request is pending.
    ///
    /// - Parameter call: The activity with the call's baton. If the call does not move, the baton of the open activity
    ///   stays.
    func keeping(for call: Activity, under epoch: Revision, reach: OwnReach) -> Transaction {
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        transaction.require(.absent(OwnershipKey.handover))
        var present = open(under: epoch)
        put(present, under: epoch, in: &transaction)
        if call.moves != nil, let index = present.firstIndex(where: { $0.isSameWork(as: call) }) {
            (present[index].moves, present[index].needs) = (call.moves, call.needs)
            putMoving(present, under: epoch, reach: reach, in: &transaction)
        }
        return transaction
    }

    /// Returns the transaction that ends an activity; nil if it is not open.
    package func ending(_ activity: Activity, under epoch: Revision) -> Transaction? {
        let present = open(under: epoch)
        let others = present.filter { !$0.isSameWork(as: activity) || $0.begun != activity.begun }
        guard others.count < present.count else { return nil }
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        put(others, under: epoch, in: &transaction)
        if others.isEmpty || others.count(where: { $0.moves != nil }) < present.count(where: { $0.moves != nil }) {
            putMoving(others, under: epoch, reach: moving?.record.reach ?? .machine, in: &transaction)
        } else {
            requireMoving(in: &transaction)
        }
        return transaction
    }

    /// Adds to a transaction that activities of a former ownership continue under this one.
    func moving(
        _ moved: [Activity], to epoch: Revision, reach: OwnReach, in transaction: inout Transaction
    ) throws(SharedCoreError) {
        let others = open(under: epoch).filter { other in !moved.contains { $0.isSameWork(as: other) } }
        let present = others + moved
        guard present.count <= ActivitiesRecord.maximumCount else {
            return try ActivitiesRecord.requireRoom(beside: present)
        }
        put(present, under: epoch, in: &transaction)
        putMoving(present, under: epoch, reach: reach, in: &transaction)
    }

    /// Adds to a transaction the kind of baton with which an activity moves. Adds nothing if the activity is not open.
    ///
    /// If the activity may move to fewer Mains than before, the commit is guarded by the pending request and the baton.
    /// Without the guards, a Main that has just asked could wait for an activity to move that no longer does.
    ///
    /// - Parameter moves: The kind of the baton; nil if the activity does not move any more.
    package func setting(
        _ moves: String?, needs: BatonNeed, of activity: Activity, under epoch: Revision, reach: OwnReach,
        in transaction: inout Transaction
    ) {
        var present = open(under: epoch)
        guard let activities, let index = present.firstIndex(where: { $0.isSameWork(as: activity) }) else { return }
        let former = present[index]
        (present[index].moves, present[index].needs) = (moves, needs)
        transaction.require(.revision(OwnershipKey.activities, activities.revision))
        if former.moves != nil, former.moves != moves || former.needs.rawValue < needs.rawValue {
            // The kinds that a Main takes change only with its request, so a guard on the request is enough.
            requireUnchanged(OwnershipKey.handover, view.handover?.revision, in: &transaction)
            requireUnchanged(OwnershipKey.baton, view.baton?.revision, in: &transaction)
        }
        putMoving(present, under: epoch, reach: reach, in: &transaction)
    }

    private func requireUnchanged(_ key: Key, _ revision: Revision?, in transaction: inout Transaction) {
        transaction.require(revision.map { .revision(key, $0) } ?? .absent(key))
    }

    private func put(_ present: [Activity], under epoch: Revision, in transaction: inout Transaction) {
        let key = OwnershipKey.activities
        transaction.require(activities.map { .revision(key, $0.revision) } ?? .absent(key))
        if present.isEmpty {
            transaction.delete(key)
        } else {
            transaction.put(key, ActivitiesRecord(epoch: epoch, activities: present).bytes, lifetime: .session)
        }
    }

    private func putMoving(
        _ present: [Activity], under epoch: Revision, reach: OwnReach, in transaction: inout Transaction
    ) {
        requireMoving(in: &transaction)
        let record = MovingRecord(epoch: epoch, reach: reach, activities: present)
        if record.items.isEmpty {
            transaction.delete(OwnershipKey.moving)
        } else {
            transaction.put(OwnershipKey.moving, record.bytes, lifetime: .session)
        }
    }

    private func requireMoving(in transaction: inout Transaction) {
        let key = OwnershipKey.moving
        transaction.require(moving.map { .revision(key, $0.revision) } ?? .absent(key))
    }
}
