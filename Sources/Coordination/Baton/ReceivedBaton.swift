public import CoreAPI
internal import Mailboxes
internal import Synchronization

/// The baton of a former owner, in the core that is to continue its calls.
///
/// A core takes it before its `start` returns: it prepares what it can, sends nothing, applies it, and sends from then
/// on. A baton that is not applied when `start` returns has failed, and its calls end.
///
/// ```swift
/// func start(in context: CoreContext) async throws {
///     guard let baton = context.baton else { return try await register() }
///     let dialog = try Dialog(baton.bytes, sockets: baton.takeDescriptors())
///     do throws(SharedCoreError) {
///         dialog.continue(try await baton.apply())
///     } catch {
///         guard error.code == .guardFailed else { throw error }
///         dialog.close()  // the baton is over: the core continues without its calls
///     }
///     try await register()
/// }
/// ```
///
/// Source: contract C25.
public final class ReceivedBaton: Sendable {
    private enum State {
        case open, applied, over
    }

    /// The format of the bytes and its version, from ``CoordinationOptions/takesBatons`` or from a baton that a core of
    /// this participant has given.
    public let kind: String
    /// The bytes that the former core has written.
    public let bytes: [UInt8]
    /// The calls that move with it.
    public let calls: [CallID]
    /// The epoch that gave it.
    public let from: Revision

    private let standing: Standing<BatonRecord>
    private let context: CoreContext
    private let tell: BatonTeller
    private let files: Mutex<[any BatonFile]>
    private let state = Mutex(State.open)

    init(
        _ standing: Standing<BatonRecord>, fetched: FetchedBaton, in context: CoreContext, tell: @escaping BatonTeller
    ) {
        self.standing = standing
        self.context = context
        self.tell = tell
        kind = standing.record.kind
        bytes = fetched.bytes
        calls = standing.record.calls.compactMap { CallID($0) }
        from = standing.record.epoch
        files = Mutex(fetched.files)
    }

    /// Takes the owners of the descriptors out of the baton.
    func takeFiles() -> [any BatonFile] {
        files.withLock { files in
            defer { files = [] }
            return files
        }
    }

    /// Takes the calls over, in one commit. From then on they belong to this core, and it may send for them.
    ///
    /// - Returns: The calls that are open, each as it was.
    /// - Throws: The store's errors, and ``SharedCoreError/Code/guardFailed`` when the baton is over, or when the core is
    ///   superseded or told to stop. A baton is over when its time has passed, or when an owner that knows no batons has
    ///   ended its calls as lost. After `guardFailed` the calls do not belong to this core, and it must send nothing for
    ///   them. If only the baton is over, the core may continue without the calls: its `start` need not throw.
    public func apply() async throws(SharedCoreError) -> [OpenCall] {
        context.system.place("baton.prepared")
        let result = Mutex<[OpenCall]>([])
        try await context.gate.begin { () async throws(SharedCoreError) in
            let (open, revision) = try await commit()
            result.withLock { $0 = open }
            return revision
        }
        state.withLock { $0 = .applied }
        context.system.place("baton.applied")
        return result.withLock(\.self)
    }

    /// Refuses the baton: this core cannot use it. Its calls end, and the former owner ends them over the network.
    ///
    /// - Parameter reason: The reason, as text for users.
    /// - Throws: The store's errors.
    public func refuse(because reason: String) async throws(SharedCoreError) {
        guard close(as: .over) else { return }
        try await context.fail(standing, because: reason, tell: tell)
    }

    /// Ends the baton if the core has neither applied nor refused it.
    func end() async throws(SharedCoreError) {
        try await refuse(because: "its core has not applied it")
    }

    /// Closes the descriptors that were not taken.
    func drop() { files.withLock { $0 = [] } }

    private func close(as end: State) -> Bool {
        drop()
        return state.withLock { state in
            guard state == .open else { return false }
            state = end
            return true
        }
    }

    private func commit() async throws(SharedCoreError) -> ([OpenCall], Revision) {
        var consistency = ReadConsistency.causal
        var isUnclear = false
        while true {
            let (transaction, open) = try await applying(consistency)
            if open.count < calls.count, try await hasLostCall(consistency) {
                // A participant of an earlier release, which knows no batons, has owned meanwhile and ended the calls
                // as lost. The former owner ends them over the network.
                try await refuse(because: "its calls have ended as lost")
                throw SharedCoreError(
                    .guardFailed, "The baton is over: its calls have ended as lost.", at: OwnershipKey.baton.text)
            }
            do throws(SharedCoreError) {
                return (open, try await context.store.commit(transaction).revision)
            } catch {
                consistency = .linearizable
                if error.code == .outcomeUnknown {
                    // It is safe to try the commit again: its guard on the baton's record lets it take effect at most
                    // once.
                    isUnclear = true
                    continue
                }
                guard let key = error.guardFailure?.condition.key else { throw error }
                if key == OwnershipKey.baton, isUnclear {
                    // Only the application of a baton moves a call of an earlier owner to this ownership, so open calls
                    // here mean that the commit took effect.
                    let calls = try await openCalls(consistency).filter { context.isOpen($0.entry) }
                    if let revision = calls.map(\.entry.revision).max() { return (calls.map(\.call), revision) }
                }
                if key == OwnershipKey.baton {
                    throw SharedCoreError(
                        .guardFailed,
                        "The baton is over: its time has passed, or another core has applied it. Its calls do not belong to "
                            + "this core.",
                        at: key.text, guardFailure: error.guardFailure)
                }
                guard OpenWork.isGuarded(by: key) || CallKey.records.contains(key) else { throw error }
            }
        }
    }

    private func hasLostCall(_ consistency: ReadConsistency) async throws(SharedCoreError) -> Bool {
        for id in calls {
            let entry = try await context.store.get(try CallKey.record(of: id), consistency: consistency)
            if case .ended(.lost) = entry.flatMap({ CallRecord($0.value) })?.state { return true }
        }
        return false
    }

    private func applying(
        _ consistency: ReadConsistency
    ) async throws(SharedCoreError) -> (Transaction, [OpenCall]) {
        let calls = try await openCalls(consistency)
        var transaction = try standing.applying(
            calls.map { ($0.entry, $0.record) }, beside: try await context.work(consistency: consistency),
            under: context.epoch, reach: context.store.ownReach, at: context.clock.now(), in: context.clock.bootID)
        try tell(.batonApplied, from, standing.record.title, &transaction)
        return (transaction, calls.map(\.call))
    }

    private struct MovingCall {
        let entry: Entry
        let record: CallRecord
        let call: OpenCall
    }

    private func openCalls(_ consistency: ReadConsistency) async throws(SharedCoreError) -> [MovingCall] {
        var found: [MovingCall] = []
        for id in calls {
            let key = try CallKey.record(of: id)
            guard let entry = try await context.store.get(key, consistency: consistency),
                let record = CallRecord(entry.value), record.state.isOpen, record.call.id == id
            else { continue }
            found.append(MovingCall(entry: entry, record: record, call: OpenCall(id: id, key: key, context: context)))
        }
        return found
    }
}

extension Standing<BatonRecord> {
    /// Returns the commit that moves a baton's calls to an ownership. It removes the record, so no later commit can do
    /// the same.
    ///
    /// - Parameters:
    ///   - calls: The open calls, as they were read.
    ///   - work: The owner's work.
    package func applying(
        _ calls: [(entry: Entry, record: CallRecord)], beside work: OpenWork, under epoch: Revision, reach: OwnReach,
        at now: BootInstant, in bootID: BootID
    ) throws(SharedCoreError) -> Transaction {
        var transaction = Transaction(guards: [.revision(OwnershipKey.baton, revision)])
        transaction.delete(OwnershipKey.baton)
        for call in calls {
            transaction.require(.revision(call.entry.key, call.entry.revision))
            transaction.put(call.entry.key, call.entry.value)
        }
        let activities = calls.map { activity(of: $0.record, at: now, in: bootID) }
        try work.moving(activities, to: epoch, reach: reach, in: &transaction)
        return transaction
    }

    /// Returns the activity of a moved call. Instants of two machines cannot be compared, so a call from another
    /// machine begins now.
    private func activity(of call: CallRecord, at now: BootInstant, in bootID: BootID) -> Activity {
        var (kind, begun) = (Activity.Kind.call, now)
        if call.bootID == bootID {
            begun = call.began
        } else if call.bootID == record.bootID {
            // Both instants are from the former machine's clock. The former core had the call until the deadline at the
            // latest.
            let passed = call.began.duration(to: record.deadline)
            kind = Activity.Kind(name: kind.name, bound: max(.zero, kind.bound - passed))
        }
        return Activity(
            kind, id: call.call.id.text, begun: begun, moves: record.kind,
            needs: record.descriptorCount == 0 ? .bytes : .descriptors)
    }
}

/// Adds an entry of the timeline about the baton of an epoch to a transaction.
typealias BatonTeller =
    @Sendable (
        _ kind: TimelineEntry.Kind, _ from: Revision, _ reason: String, _ transaction: inout Transaction
    ) throws(SharedCoreError) -> Void

/// The baton that a core receives from a former owner.
final class ReceivedBatonSlot: Sendable {
    private let content = Mutex<ReceivedBaton?>(nil)

    var baton: ReceivedBaton? {
        get { content.withLock(\.self) }
        set { content.withLock { $0 = newValue } }
    }
}

extension CoreContext {
    /// The baton that a former owner has given; nil if there is none, and after the core's start has returned. Its kind
    /// is one of ``CoordinationOptions/takesBatons`` or one that a core of this participant has given.
    ///
    /// Source: contract C25.
    public var baton: ReceivedBaton? { received.baton }

    /// Closes the parts of the baton that the core has not taken. A baton that was not applied stays for the next
    /// epoch.
    func dropReceivedBaton() {
        received.baton?.drop()
        received.baton = nil
    }

    /// Gets the baton that was offered when the ownership was acquired, and ends the calls that no core continues.
    ///
    /// - Parameters:
    ///   - standing: The record of the baton; nil if there is none.
    ///   - kinds: The kinds of batons that the core accepts.
    ///   - bootID: The run of this machine.
    func receive(
        _ standing: Standing<BatonRecord>?, taking kinds: [String], in bootID: BootID, tell: @escaping BatonTeller
    ) async throws(SharedCoreError) {
        guard let standing else { return try await endLostCalls() }
        let record = standing.record
        if record.state == .offered {
            var problem: String?
            if !kinds.contains(record.kind) {
                problem = "its core takes no baton of the kind “\(record.kind)”"
            } else {
                system.place("baton.taken")
                switch await fetch(record, in: bootID) {
                case .success(let fetched):
                    received.baton = ReceivedBaton(standing, fetched: fetched, in: self, tell: tell)
                case .failure(let cause): problem = cause.text
                }
            }
            guard let problem else {
                return try await endLostCalls(butFor: Set(record.calls.compactMap { CallID($0) }.map(CallKey.record)))
            }
            return try await fail(standing, because: problem, tell: tell)
        }
        // The author of an unreadable record is not known, so no other participant would remove it.
        if record.epoch == .zero {
            try await change(standing, because: "it cannot be read", tell: tell) { $0.delete(OwnershipKey.baton) }
        }
        try await endLostCalls()
    }

    /// Fetches a baton from its keepers: from the processes of this machine if it was given here, then from the hub.
    private func fetch(_ record: BatonRecord, in bootID: BootID) async -> Result<FetchedBaton, BatonProblem> {
        var result = Result<FetchedBaton, BatonProblem>.failure(BatonProblem("no process of this machine keeps it"))
        if record.bootID == bootID {
            guard record.deadline > clock.now() else { return .failure(BatonProblem("its time is over")) }
            result = await system.batons.fetch(record)
            if case .success = result { return result }
        }
        return record.keepers.contains(BatonRecord.hub) ? await fetchFromHub(record) : result
    }

    private func fetchFromHub(_ record: BatonRecord) async -> Result<FetchedBaton, BatonProblem> {
        guard store.ownReach == .hub, let hub = store as? any BatonDepositing else {
            return .failure(BatonProblem("the hub that keeps it is not reached"))
        }
        guard record.descriptorCount == 0 else {
            return .failure(BatonProblem("its descriptors do not go through a hub"))
        }
        do throws(SharedCoreError) {
            guard let bytes = try await hub.fetchBaton(of: record.epoch, under: epoch) else {
                return .failure(BatonProblem("the hub does not keep it any more"))
            }
            guard bytes.count == record.byteCount, SHA256(of: bytes).digest == record.digest else {
                return .failure(BatonProblem("its bytes are not those that were offered"))
            }
            return .success(FetchedBaton(bytes: bytes, files: []))
        } catch {
            return .failure(BatonProblem("the hub does not give it: \(error.message)"))
        }
    }

    /// Records that a baton cannot be used, and ends its calls.
    func fail(
        _ standing: Standing<BatonRecord>, because reason: String, tell: BatonTeller
    ) async throws(SharedCoreError) {
        var record = standing.record
        record.state = .failed
        let isGone = try await !store.sessions().contains { $0.id == standing.session }
        try await change(standing, because: reason, tell: tell) { transaction in
            // The author of the baton removes its record, unless the author has ended.
            if isGone { return transaction.delete(OwnershipKey.baton) }
            transaction.put(OwnershipKey.baton, record.bytes, lifetime: .expiring(after: Baton.lifetimes.upperBound))
        }
        try await endLostCalls()
    }

    private func change(
        _ standing: Standing<BatonRecord>, because reason: String, tell: BatonTeller,
        _ change: (inout Transaction) -> Void
    ) async throws(SharedCoreError) {
        var transaction = Transaction(guards: [.revision(OwnershipKey.baton, standing.revision)])
        change(&transaction)
        try tell(.batonFailed, standing.record.epoch, reason, &transaction)
        do throws(SharedCoreError) {
            _ = try await store.commit(transaction)
        } catch {
            // Its author has ended it.
            guard error.guardFailure?.condition.key == OwnershipKey.baton else { throw error }
        }
    }

    /// Ends the baton if the core's `start` returned without applying it.
    func endReceivedBaton() async throws(SharedCoreError) {
        try await received.baton?.end()
        dropReceivedBaton()
    }

    /// Sets the kind of baton with which a call can move.
    func setMoves(_ kind: String?, needs: BatonNeed, of call: OpenCall) async throws(SharedCoreError) {
        let key = call.key
        _ = try await changeCalls(alsoGuardedBy: [OwnershipKey.handover, OwnershipKey.baton]) {
            consistency throws(SharedCoreError) in
            guard let entry = try await store.get(key, consistency: consistency), isOpen(entry),
                let record = CallRecord(entry.value)
            else { throw call.isOver }
            let work = try await work(consistency: consistency)
            guard let activity = work.activity(of: record, under: epoch),
                activity.moves != kind || (kind != nil && activity.needs != needs)
            else { return nil }
            var changed = activity
            (changed.moves, changed.needs) = (kind, needs)
            // A Main that has asked for the core has been told that this call does not delay it.
            if work.wouldHoldUp(changed) {
                throw SharedCoreError(
                    .guardFailed, "A Main that accepts the call has asked for the core.", at: key.text)
            }
            var transaction = Transaction()
            work.setting(
                kind, needs: needs, of: activity, under: epoch, reach: store.ownReach, in: &transaction)
            return transaction
        }
    }
}
