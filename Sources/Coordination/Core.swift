public import CoreAPI
internal import Synchronization

/// The part of an application that must run at most once at a time in a group, such as a SIP or a messaging stack.
///
/// The owner starts a core. The core works until it is told to stop, and delivers each message that it receives. The
/// calls of `start`, `iterate` and `stop` come in this order, one at a time. They run on the concurrent pool, or on
/// ``CoordinationEnvironment/coreExecutor``, so a core that blocks must do so on a thread of its own.
public protocol Core: Sendable {
    /// Connects. If it throws, the participant releases the ownership.
    func start(in context: CoreContext) async throws

    /// Works until the task is cancelled: receives, hands each message over with ``CoreContext/deliver(_:)``, and
    /// acknowledges it to its server only after that call has returned.
    func iterate(in context: CoreContext) async throws

    /// Disconnects. Called after `iterate` has returned, and also after a `start` that threw.
    func stop() async

    /// Disconnects, for the reason in the request. The default calls ``stop()``.
    ///
    /// The core's store accepts writes until this returns or ``CoordinationOptions/stopTimeout`` has passed. It refuses
    /// them after ``StopRequest/Reason/superseded``, once the session has ended, and while the hub or the cluster of a
    /// session with a lease does not answer (``StopRequest/Reason/cutOff``).
    ///
    /// Source: contract C18, C19.
    func stop(_ request: StopRequest) async

    /// Becomes quiet, and stays registered: sends nothing, needs no timer, and writes nothing to its store until ``resume(in:for:)``.
    ///
    /// Called while ``iterate(in:)`` is under way, for a Main that is about to sleep. The default throws
    /// ``SharedCoreError/Code/unsupported``: such a Main does not rest. If `rest` has thrown, the core continues as
    /// before. A quiet core may still be told to stop.
    ///
    /// Source: contract C26.
    func rest(in context: CoreContext) async throws

    /// Continues after a rest. Called after a ``rest(in:)`` that returned, when the Main owns for itself again. Not
    /// called if the core is told to stop instead. An error that it throws is a failure of the core.
    ///
    /// Source: contract C26.
    ///
    /// - Parameters:
    ///   - context: The context with which the core was started.
    ///   - wake: The reason for which the Main was woken.
    func resume(in context: CoreContext, for wake: Wake) async throws

    /// Stops and gives the calls to the next core. Called in place of ``stop(_:)`` if the Main that asked accepts a kind of
    /// batons (``StopRequest/takes``). From now on the core sends and reads nothing. It returns the state that the next
    /// core needs. The default calls ``stop(_:)`` and returns nil.
    ///
    /// A core that has returned a baton sends nothing and keeps its sockets open until ``batonEnded(_:)``. A core that
    /// cannot move its work, such as a ringing call, stops as in ``stop(_:)`` and returns nil.
    ///
    /// Source: contract C25.
    func handOver(_ request: StopRequest) async -> Baton?

    /// Handles the outcome of the baton that this core has given. The core ends the calls over the network if they are
    /// still its own, and closes its sockets. This is the last call to the core. The default does nothing.
    ///
    /// Source: contract C25.
    func batonEnded(_ end: BatonEnd) async
}

extension Core {
    public func stop(_ request: StopRequest) async { await stop() }

    public func rest(in context: CoreContext) async throws {
        throw SharedCoreError(.unsupported, "This core cannot be quiet and stay registered.", at: "core")
    }

    public func resume(in context: CoreContext, for wake: Wake) async throws {}

    public func handOver(_ request: StopRequest) async -> Baton? {
        await stop(request)
        return nil
    }

    public func batonEnded(_ end: BatonEnd) async {}
}

/// Why a core is to stop.
///
/// Source: contract C18.
public struct StopRequest: Hashable, Sendable {
    /// The reason for which a core must stop. New ones may be added.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Hashable, Sendable {
            case handover, insisted, served, budget, bound, superseded, closing, failed, cutOff
        }

        private let name: Name

        private init(_ name: Name) {
            self.name = name
        }

        public var description: String { name.rawValue }

        /// A Main asked for ownership; ``StopRequest/requester`` is its name.
        public static let handover = Reason(.handover)
        /// A Main asked for ownership and does not wait for activities; ``StopRequest/requester`` is its name.
        public static let insisted = Reason(.insisted)
        /// No call in the group waits for a message any more.
        public static let served = Reason(.served)
        /// The Executor's budget is used up.
        public static let budget = Reason(.budget)
        /// The bound of the last open activity has passed. ``StopRequest/activity`` is that activity.
        public static let bound = Reason(.bound)
        /// A newer epoch owns: the core's store refuses its writes already.
        public static let superseded = Reason(.superseded)
        /// The participant closes.
        public static let closing = Reason(.closing)
        /// The core failed or ended by itself, or the group cannot be followed any more.
        public static let failed = Reason(.failed)
        /// The group has not answered for so long that the session may end soon. Another participant may own after
        /// that. Until the group answers, the core's store refuses requests that need it.
        ///
        /// Source: contract C19.
        public static let cutOff = Reason(.cutOff)
    }

    /// Why the core is to stop.
    public let reason: Reason
    /// The name of the Main that asked; nil if none did.
    public let requester: String?
    /// The activity that has passed its bound; nil if the core stops for another reason.
    public let activity: Activity?
    /// The time that the core has to stop, counted from this request. After that time another participant may own while
    /// the core still runs. ``CoordinationOptions/stopTimeout`` by default.
    public internal(set) var timeout: Duration
    /// The kinds of batons that the asking Main accepts; empty if the core must stop for another reason, or if that
    /// Main cannot get one.
    ///
    /// Source: contract C25.
    public internal(set) var takes: [String] = []
    /// The part of a baton that reaches that Main; ``BatonReach/none`` if it accepts no kind.
    ///
    /// Source: contract C25.
    public internal(set) var batonReach = BatonReach.none

    /// Makes a request. Participants make it for their cores; tests of a core make their own.
    public init(
        _ reason: Reason, by requester: String? = nil, activity: Activity? = nil, within timeout: Duration = .seconds(5)
    ) {
        self.reason = reason
        self.requester = requester
        self.activity = activity
        self.timeout = timeout
    }
}

/// The context of a running core, through which the core uses the group.
public struct CoreContext: Sendable {
    /// The group's store, with the core's epoch as a guard on every transaction. A write of a superseded core throws
    /// ``SharedCoreError/Code/guardFailed`` and does nothing.
    ///
    /// Source: contract C4.
    public let store: any SharedStore

    /// The epoch of the ownership under which the core runs.
    public let epoch: Revision

    /// The role of the participant that the core runs for: Main or Executor.
    public let role: SessionRole

    /// The push for which a host started this process, if it is an Executor; else nil. The core may also run for other
    /// participants, which wait for other call-ids.
    ///
    /// Source: contract P13.
    public let push: Push?

    /// The time for the stop of a core that failed or ended by itself.
    var stopTimeout = Duration.seconds(5)
    /// The handler that tells the core that it is given up.
    let giveUp = GiveUpCall()
    /// The clock for the beginnings of activities.
    let clock: any TimeSource
    /// How long the record of an ended call is kept.
    var callsLifetime = Calls.defaultLifetime
    /// The services that only the system can give.
    var system = SystemParts()
    /// The executor that runs the core's calls; nil for the concurrent pool.
    var executor: (any TaskExecutor)?
    /// The baton of a former owner.
    let received = ReceivedBatonSlot()
    /// The activities that the core is beginning. The participant must know them before it stops the core.
    var gate = ActivityGate()
    /// Why the core is told to stop; nil before that.
    package var request: StopRequest? { gate.request }
    let acceptMessage: @Sendable (InboxMessage) async throws(SharedCoreError) -> DeliveryResult
    let reportProblem: @Sendable (String) async -> Void

    /// The outcome of handing a message over.
    public enum DeliveryResult: Hashable, Sendable {
        /// The message was stored in the inbox.
        case stored
        /// A message with the same identity was stored, or acknowledged, before.
        case duplicate
    }

    /// Makes a context. Participants make it for their cores; tests of a core make their own.
    public init(
        store: any SharedStore, epoch: Revision, role: SessionRole, push: Push? = nil,
        clock: any TimeSource,
        acceptMessage: @escaping @Sendable (InboxMessage) async throws(SharedCoreError) -> DeliveryResult,
        reportProblem: @escaping @Sendable (String) async -> Void
    ) {
        self.store = store
        self.epoch = epoch
        self.role = role
        self.push = push
        self.clock = clock
        self.acceptMessage = acceptMessage
        self.reportProblem = reportProblem
    }

    /// Stores a received message for the participants that ask for it. The message is committed when this returns; the
    /// core must not acknowledge it to its server before.
    ///
    /// Source: contract C8, C10.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded;
    ///   ``SharedCoreError/Code/limitExceeded`` when the message is larger than the maximum size of a value, so that
    ///   even an empty group could not store it; ``SharedCoreError/Code/storageFull`` when the group or its disk is
    ///   full, so that it can be stored later; ``SharedCoreError/Code/invalidArgument`` for a value of its content that
    ///   breaks its rule (C20).
    @discardableResult
    public func deliver(_ message: InboxMessage) async throws(SharedCoreError) -> DeliveryResult {
        try await acceptMessage(message)
    }

    /// Replaces the content of a message that waits to be acknowledged, such as one that its sender has edited.
    ///
    /// A participant that asks from now on gets the new content. A participant that has the message in hand may have
    /// shown the former content; its acknowledgement returns that the message was superseded, and it gets the new
    /// content when it asks again. An acknowledged message does not change: to show new content then, deliver it under
    /// another identity.
    ///
    /// Source: contract C22.
    ///
    /// - Parameter message: The new content, under exactly the identity with which the message was delivered.
    /// - Throws: As ``deliver(_:)``, and ``SharedCoreError/Code/invalidArgument`` for a value of the content that breaks its rule.
    @discardableResult
    public func update(_ message: InboxMessage) async throws(SharedCoreError) -> MessageChange {
        try await Inbox(store).update(message)
    }

    /// Withdraws a message that waits to be acknowledged, for example because its sender recalled it or it was read
    /// elsewhere. A wait for it ends with nothing to show, and a duplicate is not stored again.
    ///
    /// Source: contract C22.
    ///
    /// - Parameter id: Exactly the identity with which the message was delivered.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded; the store's errors.
    @discardableResult
    public func withdraw(_ id: MessageID) async throws(SharedCoreError) -> MessageChange {
        try await Inbox(store).withdraw(id)
    }

    /// Posts a notification: counts one more post of its name and wakes the observers in all processes.
    ///
    /// Source: contract N1, C4.
    ///
    /// - Parameters:
    ///   - name: The name to post.
    ///   - state: The new state word; nil leaves it as it is.
    /// - Returns: The commit of the post.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded; the store's errors.
    @discardableResult
    public func post(_ name: NotificationName, state: UInt64? = nil) async throws(SharedCoreError) -> Revision {
        try await store.commit(Transaction(operations: [.post(name, state: state)])).revision
    }

    /// Writes a problem to the timeline, for example about a message that the core had to set aside.
    public func report(_ problem: String) async {
        await reportProblem(problem)
    }
}

extension CoreContext {
    /// Enters a section of work that a Main's request for hand-over lets the core finish.
    ///
    /// The core is told to stop as soon as it leaves the section, or when `maximumDuration` has passed since the request.
    ///
    /// Source: contract C3.
    ///
    /// - Parameter maximumDuration: How long the section may delay a hand-over, at most `handoverMaximumTimeout`.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when a request is pending already, when the core is in a section, or
    ///   when it is superseded.
    public func enterCriticalSection(maximumDuration: Duration) async throws(SharedCoreError) {
        _ = try await store.commit(CriticalRecord.entering(epoch, bound: maximumDuration))
    }

    /// Leaves the section.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded.
    public func leaveCriticalSection() async throws(SharedCoreError) {
        _ = try await store.commit(CriticalRecord.leaving(epoch))
    }
}

extension CoreContext {
    /// Begins work that a Main's request for hand-over waits for, and that keeps an Executor's core past its budget.
    ///
    /// It is open until ``OpenActivity/end()``, until the owner's session ends, or until its bound has passed. If an
    /// activity of this kind and id is open already, the call returns that one, with its bound unchanged.
    ///
    /// Source: contract C17.
    ///
    /// - Parameters:
    ///   - kind: The kind of the activity, which gives its bound.
    ///   - id: The identifier of the activity, for users and for the application: 1 to 128 bytes of UTF-8.
    ///   - expectedEnd: The time in which it is expected to end, as information for users; nil if not known.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when a request for hand-over is pending, when the core is to stop, or when it is
    ///   superseded;
    ///   ``SharedCoreError/Code/limitExceeded`` when 16 are open; ``SharedCoreError/Code/invalidArgument`` for an id, a name or a
    ///   bound that breaks its rule.
    public func begin(
        _ kind: Activity.Kind, id: String, expectedEnd: Duration? = nil
    ) async throws(SharedCoreError) -> OpenActivity {
        let now = clock.now()
        let activity = Activity(kind, id: id, begun: now, expectedEnd: expectedEnd.map { now.advanced(by: $0) })
        if let problem = activity.problem {
            throw SharedCoreError(.invalidArgument, problem, at: OwnershipKey.activities.text)
        }
        var open: [Activity] = []
        try await beginWork { () async throws(SharedCoreError) in
            let (work, revision) = try await changeActivities { work, _ throws(SharedCoreError) in
                let open = work.open(under: epoch)
                if open.contains(where: { $0.isSameWork(as: activity) }) { return nil }
                try ActivitiesRecord.requireRoom(beside: open)
                return work.beginning(activity, under: epoch, reach: store.ownReach)
            }
            open = work.open(under: epoch)
            return revision
        }
        return OpenActivity(activity: open.first { $0.isSameWork(as: activity) } ?? activity, context: self)
    }

    /// Commits a change of the activities. Tries again if a concurrent call of this core has changed them first.
    ///
    /// - Parameter change: The transaction; nil when there is nothing to change.
    /// - Returns: The activities before the change, and the commit with which they have the wanted state.
    fileprivate func changeActivities(
        _ change: (OpenWork, ReadConsistency) async throws(SharedCoreError) -> Transaction?
    ) async throws(SharedCoreError) -> (before: OpenWork, revision: Revision) {
        var consistency = ReadConsistency.causal
        while true {
            let work = try await work(consistency: consistency)
            guard let transaction = try await change(work, consistency) else { return (work, work.revision) }
            do throws(SharedCoreError) {
                return (work, try await store.commit(transaction).revision)
            } catch {
                guard OpenWork.isGuarded(by: error.guardFailure?.condition.key) else { throw error }
                consistency = .linearizable
            }
        }
    }
}

/// An activity that a core has begun.
///
/// Source: contract C17.
public struct OpenActivity: Sendable {
    /// The activity.
    public let activity: Activity

    fileprivate let context: CoreContext

    /// Ends the activity. Does nothing if it has ended.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded, which ends its activities, and when
    ///   an open call of the core has the activity, which ends only with the call.
    public func end() async throws(SharedCoreError) {
        _ = try await context.changeActivities { work, consistency throws(SharedCoreError) in
            guard let ending = work.ending(activity, under: context.epoch) else { return nil }
            // This check must follow the read of the activities. If a call takes this activity over after the check, it
            // writes the activities, and the guard of this commit fails.
            try await context.requireNoCall(with: activity, consistency: consistency)
            return ending
        }
    }
}

/// Tells a core that it is given up: its ownership is about to be released, or its participant has ended, while the
/// core still runs.
///
/// It is a part of the context, so it also reaches a core inside other cores that wrap it.
final class GiveUpCall: Sendable {
    private let handler = Mutex<(@Sendable () -> Void)?>(nil)

    /// True if a handler is set.
    var isAwaited: Bool { handler.withLock { $0 != nil } }

    /// Sets the handler. It is called on the participants' thread: it must return at once, or end the process.
    func onCall(_ body: @escaping @Sendable () -> Void) {
        handler.withLock { $0 = body }
    }

    func forget() {
        handler.withLock { $0 = nil }
    }

    func call() {
        handler.withLock { $0 }?()
    }
}
