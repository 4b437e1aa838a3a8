public import CoreAPI
internal import Synchronization

/// The expensive part of an application, of which only one runs at a time: a SIP or a messaging stack.
///
/// A core is started by the owner, works until told otherwise, and hands over each message that it receives. The
/// three calls come in this order and never at once. They run on the concurrent pool; a core that blocks does so on a
/// thread of its own.
public protocol Core: Sendable {
    /// Connects. Throwing gives up ownership.
    func start(in context: CoreContext) async throws

    /// Works until the task is cancelled: receives, hands each message over with ``CoreContext/deliver(_:)``, and
    /// acknowledges it to its server only after that call has returned.
    func iterate(in context: CoreContext) async throws

    /// Disconnects. Called after `iterate` has returned, and also after a `start` that threw.
    func stop() async

    /// Disconnects, and is told why. The default calls ``stop()``.
    ///
    /// Except for ``StopRequest/Reason/superseded``, while it is cut off, and where its session has ended, its store takes its writes until this has
    /// returned, or ``CoordinationOptions/stopTimeout`` has passed.
    ///
    /// Source: contract C18.
    func stop(_ request: StopRequest) async

    /// Becomes quiet, and stays registered: sends nothing, needs no timer, and writes nothing to its store until ``resume(in:for:)``.
    ///
    /// Called while ``iterate(in:)`` is under way, for a Main that is about to sleep. The default throws
    /// ``SharedCoreError/Code/unsupported``: such a Main does not rest. A core that has thrown goes on as before. Quiet, it may still be told
    /// to stop.
    ///
    /// Source: contract C26.
    func rest(in context: CoreContext) async throws

    /// Goes on after a rest. It comes after each ``rest(in:)`` that has returned, unless the core is told to stop instead, and no sooner
    /// than its Main owns for itself again. Throwing counts as a failure of the core.
    ///
    /// Source: contract C26.
    ///
    /// - Parameters:
    ///   - context: The context with which the core was started.
    ///   - wake: The reason for which the Main was woken.
    func resume(in context: CoreContext, for wake: Wake) async throws

    /// Disconnects in place of ``stop(_:)``, where a Main asked that takes batons of a kind in ``StopRequest/takes``: the core sends and
    /// reads nothing from now on, and returns what the next core needs in order to continue. The default calls ``stop(_:)``.
    ///
    /// The core that has returned a baton rests until ``batonEnded(_:)``: its sockets stay open, and it sends nothing. One that cannot
    /// move what it has, such as a call that rings, stops as it would otherwise and returns nil.
    ///
    /// Source: contract C25.
    func handOver(_ request: StopRequest) async -> Baton?

    /// Says what became of the baton that this core has given. It ends its calls over the network where these are its own, and closes what
    /// is open: it is not called again. The default does nothing.
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
    /// Why a core is to stop. New ones may be added.
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
        /// The bound of the last open activity has passed; ``StopRequest/activity`` is that one.
        public static let bound = Reason(.bound)
        /// A newer epoch owns: the core's store refuses its writes already.
        public static let superseded = Reason(.superseded)
        /// The participant closes.
        public static let closing = Reason(.closing)
        /// The core failed or ended by itself, or the group cannot be followed any more.
        public static let failed = Reason(.failed)
        /// The group has not answered for so long that the session may be over soon, and another participant own. Until it answers,
        /// the core's store refuses what needs the group.
        ///
        /// Source: contract C19.
        public static let cutOff = Reason(.cutOff)
    }

    /// Why the core is to stop.
    public let reason: Reason
    /// The name of the Main that asked; nil when none did.
    public let requester: String?
    /// The activity that has passed its bound; nil if the core stops for another reason.
    public let activity: Activity?
    /// How long the core may take to stop, from when it is told, before its ownership passes on without it: by default
    /// ``CoordinationOptions/stopTimeout``.
    public internal(set) var timeout: Duration
    /// The kinds of batons that the Main takes that asked; none where the core is to stop for another reason, and where that Main cannot
    /// take one.
    ///
    /// Source: contract C25.
    public internal(set) var takes: [String] = []
    /// The part of a baton that reaches that Main; ``BatonReach/none`` if it takes no kind.
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

/// The context of a running core. There is no other way for it to reach the group.
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

    /// The push that started this process, for an Executor that a host has started; else nil. The core may run on for the calls
    /// of others.
    ///
    /// Source: contract P13.
    public let push: Push?

    /// The time that a core has to stop that failed or ended by itself.
    var stopTimeout = Duration.seconds(5)
    /// How a core hears that it is given up.
    let giveUp = GiveUpCall()
    /// The clock that the beginning of an activity is told by.
    let clock: any TimeSource
    /// How long an ended call is kept.
    var callsLifetime = Calls.defaultLifetime
    /// The services that only the system can give.
    var system = SystemParts()
    /// The executor that runs the core's calls; nil for the concurrent pool.
    var executor: (any TaskExecutor)?
    /// The baton of a former owner.
    let received = ReceivedBatonSlot()
    /// The activities that the core is beginning, as far as the participant has to know of them.
    var gate = ActivityGate()
    /// Why the core is told to stop; nil before that.
    package var request: StopRequest? { gate.request }
    let acceptMessage: @Sendable (InboxMessage) async throws(SharedCoreError) -> DeliveryResult
    let reportProblem: @Sendable (String) async -> Void

    /// The outcome of handing a message over.
    public enum DeliveryResult: Hashable, Sendable {
        /// It is in the inbox.
        case stored
        /// One with the same call-id was stored, or acknowledged, before.
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

    /// Stores a received message for the participants that ask for it. When this returns, the message is committed, and
    /// only then may the core acknowledge it to its server.
    ///
    /// Source: contract C8, C10.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded; ``SharedCoreError/Code/limitExceeded``
    ///   when the message is larger than a value can be, also in an empty group; ``SharedCoreError/Code/storageFull`` when the
    ///   group or its disk is full, so that it can be stored later; ``SharedCoreError/Code/invalidArgument`` for a value of its content
    ///   that breaks its rule (C20).
    @discardableResult
    public func deliver(_ message: InboxMessage) async throws(SharedCoreError) -> DeliveryResult {
        try await acceptMessage(message)
    }

    /// Replaces the content of a message that waits to be acknowledged, such as one that its sender has edited.
    ///
    /// A participant that comes for it from now on gets the new content. One that has it in hand, and may have shown
    /// the former one, is told so by its acknowledgement, and gets the new content when it asks again. An acknowledged
    /// message does not change: to show the new content then, deliver it under an identity of its own.
    ///
    /// Source: contract C22.
    ///
    /// - Parameter message: The new content, under exactly the identity with which the message was delivered.
    /// - Throws: As ``deliver(_:)``, and ``SharedCoreError/Code/invalidArgument`` for a value of the content that breaks its rule.
    @discardableResult
    public func update(_ message: InboxMessage) async throws(SharedCoreError) -> MessageChange {
        try await Inbox(store).update(message)
    }

    /// Takes back a message that waits to be acknowledged, such as one that its sender has recalled or that was read elsewhere: a wait for
    /// it ends with nothing to show, and a duplicate is not stored again.
    ///
    /// Source: contract C22.
    ///
    /// - Parameter id: Exactly the identity with which the message was delivered.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded; the store's errors.
    @discardableResult
    public func withdraw(_ id: MessageID) async throws(SharedCoreError) -> MessageChange {
        try await Inbox(store).withdraw(id)
    }

    /// Counts one more post of a name and wakes its observers, in this process and in others.
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

    /// Puts a sentence about something that the core had to set aside on the timeline.
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
    /// - Parameter maximumDuration: How long the section may hold up a hand-over. It counts up to
    ///   `handoverMaximumTimeout`.
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
    /// It is open until ``OpenActivity/end()``, until the owner's session ends, or until its bound has passed. One that is open
    /// already is not begun anew: the call gives that one, with its bound as it stands.
    ///
    /// Source: contract C17.
    ///
    /// - Parameters:
    ///   - kind: The kind of the activity, which gives its bound.
    ///   - id: Which one it is, for people and for the application: 1 to 128 bytes of UTF-8.
    ///   - expectedEnd: In what time it is expected to end, for people; nil where that is not known.
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

    /// Commits a change of the activities, and tries again where another call of this core was faster.
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

    /// Ends the activity. One that has ended stays so.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded: its activities are over then; and when an open call of the
    ///   core has the activity, which ends with the call alone.
    public func end() async throws(SharedCoreError) {
        _ = try await context.changeActivities { work, consistency throws(SharedCoreError) in
            guard let ending = work.ending(activity, under: context.epoch) else { return nil }
            // Behind the read of the activities: a call that has come to have this one since then has written them.
            try await context.requireNoCall(with: activity, consistency: consistency)
            return ending
        }
    }
}

/// The call to a core that it is given up: its ownership is about to be released, or its participant has ended, though it runs.
///
/// It is a part of the context, and so reaches a core through any number of cores around it.
final class GiveUpCall: Sendable {
    private let handler = Mutex<(@Sendable () -> Void)?>(nil)

    /// True if a handler is set.
    var isAwaited: Bool { handler.withLock { $0 != nil } }

    /// Sets the handler. It is called on the participants' thread: it must return at once, or never.
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
