public import CoreAPI

/// One event in the history of the core's ownership. The participant that caused it wrote the entry in the same
/// transaction.
///
/// Source: contract C15.
public struct TimelineEntry: Hashable, Sendable {
    /// The longest reason, in bytes of UTF-8. A longer one is cut at a character.
    public static let maximumReasonByteCount = 512

    /// The kind of event.
    public var kind: Kind
    /// The participant that caused the event and wrote the entry.
    public var participant: SessionID
    /// The process of the session.
    public var pid: Int32
    /// The role of the session.
    public var role: SessionRole
    /// The name of the session, for people.
    public var name: String
    /// The epoch of the participant's own ownership; nil when it has none.
    ///
    /// For an acquisition the epoch is the revision of the entry's own commit: leave it nil when you write the entry;
    /// reading fills it in.
    public var epoch: Revision?
    /// The epoch of the other ownership concerned: the one that was asked, challenged, killed, or seen running.
    public var other: Revision?
    /// The owner's previous state.
    public var from: OwnerState?
    /// The owner's state after.
    public var to: OwnerState?
    /// For an acquisition: the ownership before it.
    public var previous: PreviousOwnership?
    /// A duration, by kind:
    ///
    /// - ``Kind/asked``: how long the owner has.
    /// - ``Kind/acquired``, ``Kind/tookOver``: the lease of the owner's session; nil if it has none (contract L5).
    /// - ``Kind/woken``: how long the Main has.
    /// - ``Kind/challenged``: how long the owner had to answer.
    public var bound: Duration?
    /// Why, as a sentence for people.
    public var reason: String {
        didSet { reason = Self.cut(reason) }
    }
    /// The time of the event, on the clock of the boot ``bootID``.
    public var at: BootInstant
    /// The boot of the machine since which ``at`` counts.
    public var bootID: BootID

    public init(
        _ kind: Kind, by participant: Session, epoch: Revision? = nil, other: Revision? = nil,
        from: OwnerState? = nil, to: OwnerState? = nil, previous: PreviousOwnership? = nil, bound: Duration? = nil,
        reason: String = "", at instant: BootInstant, bootID: BootID
    ) {
        self.kind = kind
        self.participant = participant.id
        self.pid = participant.process.pid
        self.role = participant.role
        self.name = participant.name
        self.epoch = epoch
        self.other = other
        self.from = from
        self.to = to
        self.previous = previous
        self.bound = bound
        self.reason = Self.cut(reason)
        self.at = instant
        self.bootID = bootID
    }

    /// The process of the participant, without its start time.
    var process: ProcessIdentity { ProcessIdentity(bootID: bootID, pid: pid, startTime: 0) }

    private static func cut(_ reason: String) -> String { reason.cut(toByteCount: maximumReasonByteCount) }
}

extension TimelineEntry {
    /// The kind of event.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// A Main asked the owner (``TimelineEntry/other``) to hand over within ``TimelineEntry/bound``.
        case asked = 1
        /// The participant became the owner; there was none. ``TimelineEntry/previous`` says how the last ownership
        /// ended.
        case acquired = 2
        /// The participant became the owner in place of ``TimelineEntry/previous``, and fenced it.
        case tookOver = 3
        /// The owner went from one state to another.
        case stateChanged = 4
        /// The owner released the ownership.
        case released = 5
        /// The process of the owner (``TimelineEntry/other``) was killed because it had not released in time.
        case killed = 7
        /// The participant learned that it no longer owns.
        case fenced = 8
        /// The participant was refused, because a Main owns (``TimelineEntry/other``) or is about to.
        case refused = 9
        /// The core began to run.
        case coreStarted = 10
        /// The core has stopped.
        case coreStopped = 11
        /// The core did not stop in time, and the ownership was released although the core may still run.
        case coreGivenUp = 12
        /// The witness saw another core run (``TimelineEntry/other``), although only one core may run.
        case overlap = 13
        /// The witness saw a core run (``TimelineEntry/other``) after it was fenced or given up, or after its session,
        /// which had a lease, had ended.
        case supersededOverlap = 14
        /// The owner (``TimelineEntry/other``) was challenged and has not answered for ``TimelineEntry/bound``; written
        /// with the take-over.
        case challenged = 15
        /// The core reported a problem, such as a message that it set aside. The reason describes it.
        case problem = 17
        /// A Main has dealt with a push that was routed to it; the reason names it.
        case pushHandled = 18
        /// Pushes that were routed to Main have ended, because no Main took them in time; the reason names some.
        case pushEnded = 19
        /// Pushes that were given up were removed to make space for others; the reason names some.
        case pushForgotten = 20
        /// From now on the holder owns for a Main that rests, under its epoch.
        case rested = 21
        /// A Main that rests (``TimelineEntry/other``) is needed, and has ``TimelineEntry/bound`` to resume.
        case woken = 22
        /// The Main owns for itself again, under its epoch.
        case resumed = 23
        /// A user did something through the participant, for example with a command. The reason names the user and the
        /// action.
        case operated = 24
        /// The owner gave a baton with its release; the reason says of what kind and size.
        case batonOffered = 30
        /// The owner took over the calls of a baton that the epoch ``TimelineEntry/other`` gave.
        case batonApplied = 31
        /// The owner could not use the baton that the epoch ``TimelineEntry/other`` gave; the reason says why.
        case batonFailed = 32
        /// The participant ended the baton that it had given, because the baton's time had passed.
        case batonExpired = 33
        /// A kind of a later release, which this one shows without knowing what it means. No participant writes it.
        case unknown = 255
    }
}

extension TimelineEntry {
    /// Returns a sentence that describes the event for users, without the time.
    public func describe() -> String {
        let sentence = "\(who) \(event)"
        return reason.isEmpty ? sentence + "." : sentence + ": " + reason
    }

    private var who: String {
        let title =
            switch role {
            case .main: "Main"
            case .executor: "Executor"
            default: role.rawValue.isEmpty ? "A participant" : "The \(role.rawValue)"
            }
        return name.isEmpty ? "\(title) (pid \(pid))" : "\(title) “\(name)” (pid \(pid))"
    }

    private var event: String {
        switch kind {
        case .asked:
            "asked \(owner(other)) to hand over" + (bound.map { " within \($0.inWords)" } ?? "")
        case .acquired: "owns the core now, as \(own)" + (previous.map { "; \($0.sentence)" } ?? "")
        case .tookOver: "took the core over, as \(own)" + (previous.map { "; \($0.sentence)" } ?? "")
        case .stateChanged: "went from \(state(from)) to \(state(to)), as \(own)"
        case .released: "released the core, \(own)"
        case .killed: "killed the process of \(owner(other))"
        case .fenced: "learned that it no longer owns the core, \(own)"
        case .refused: "was refused" + (other.map { ", because epoch \($0) owns" } ?? "")
        case .coreStarted: "started its core, \(own)"
        case .coreStopped: "stopped its core, \(own)"
        case .coreGivenUp: "gave up its core, which did not stop in time, \(own)"
        case .overlap: "saw the core of \(owner(other)) run at the same time as its own, \(own)"
        case .supersededOverlap:
            "saw the superseded core of \(owner(other)) still run beside its own, \(own)"
        case .challenged:
            "challenged \(owner(other))" + (bound.map { ", without an answer for \($0.inWords)" } ?? "")
        case .problem: "reported"
        case .pushHandled: "handled a push, \(own)"
        case .pushEnded: "removed pushes that no Main took in time"
        case .pushForgotten: "removed pushes that were given up, to make space for others"
        case .rested: "owns for a Main that rests, \(own)"
        case .woken:
            "woke \(owner(other)), which rests" + (bound.map { ", to resume within \($0.inWords)" } ?? "")
        case .resumed: "resumed, \(own)"
        case .operated: "does what a user requested"
        case .batonOffered: "gave a baton, \(own)"
        case .batonApplied: "took over the calls of the baton of \(owner(other)), \(own)"
        case .batonFailed: "could not use the baton of \(owner(other)), \(own)"
        case .batonExpired: "ended the baton that it had given, \(own)"
        case .unknown: "did what this release does not know"
        }
    }

    private var own: String { epoch.map { "epoch \($0)" } ?? "without an epoch" }

    private func owner(_ epoch: Revision?) -> String { epoch.map { "epoch \($0)" } ?? "the owner" }

    private func state(_ state: OwnerState?) -> String { state?.description ?? "nothing" }
}

extension PreviousOwnership {
    /// How it ended, for people.
    fileprivate var sentence: String {
        switch end {
        case .released: "epoch \(epoch) was released"
        case .sessionEnded: "epoch \(epoch) ended with its session"
        case .unanswered: "epoch \(epoch) did not answer and is fenced"
        case .deadlinePassed: "epoch \(epoch) did not release in time and is fenced; its core may still run"
        case .replaced: "epoch \(epoch) is replaced and fenced"
        }
    }
}

/// The ownership before an acquisition, as the new owner knew it.
public struct PreviousOwnership: Hashable, Sendable {
    /// The epoch of the ownership.
    public let epoch: Revision
    /// How it ended.
    public let end: OwnershipEndReason

    public init(epoch: Revision, end: OwnershipEndReason) {
        self.epoch = epoch
        self.end = end
    }
}

/// How an ownership ended. There are three ways: released, the end of its session, and a take-over for one of three
/// reasons. An ownership that moves to a holder and back by a rest has not ended.
///
/// Source: contract C5.
public enum OwnershipEndReason: UInt8, Hashable, Sendable, CaseIterable {
    /// The holder released the ownership.
    case released = 1
    /// The session of the holder ended: closed, killed, or a restart of the machine.
    case sessionEnded = 2
    /// A take-over: a challenge was left unanswered (C6).
    case unanswered = 3
    /// A take-over: an Executor had not released the ownership at a Main's deadline (C3).
    case deadlinePassed = 4
    /// A take-over by a second Main that was told to take over (C14).
    case replaced = 5
}

extension TimelineEntry {
    private static let version: UInt8 = 1

    /// Returns the bytes of the entry: the version, then the fields in the order of their declaration.
    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 64 + name.utf8.count + reason.utf8.count)
        writer.byte(Self.version)
        writer.byte(kind.rawValue)
        writer.integer(participant.rawValue)
        writer.halfWord(UInt32(bitPattern: pid))
        writer.text(role.rawValue)
        writer.text(name)
        writer.optional(epoch) { $0.integer($1.rawValue) }
        writer.optional(other) { $0.integer($1.rawValue) }
        writer.optional(from) { $0.byte($1.rawValue) }
        writer.optional(to) { $0.byte($1.rawValue) }
        writer.optional(previous) { writer, previous in
            writer.integer(previous.epoch.rawValue)
            writer.byte(previous.end.rawValue)
        }
        writer.optional(bound) { $0.integer($1.clampedNanoseconds) }
        writer.text(reason)
        writer.integer(at.nanoseconds)
        writer.word(bootID.high)
        writer.word(bootID.low)
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.version else { throw .malformed }
        // A later release may add kinds, but not change the layout without a new version, so the fields of an unknown
        // kind can be read.
        kind = Kind(rawValue: try reader.byte()) ?? .unknown
        participant = SessionID(rawValue: try reader.integer())
        pid = Int32(bitPattern: try reader.halfWord())
        role = SessionRole(rawValue: try reader.text())
        name = try reader.text()
        epoch = try reader.optionalRevision()
        other = try reader.optionalRevision()
        from = try reader.optionalState()
        to = try reader.optionalState()
        previous = try reader.optional { reader throws(ByteCodingError) in
            let epoch = Revision(rawValue: try reader.integer())
            guard let end = OwnershipEndReason(rawValue: try reader.byte()) else { throw .malformed }
            return PreviousOwnership(epoch: epoch, end: end)
        }
        bound = try reader.optional { reader throws(ByteCodingError) in
            .nanoseconds(Int64(clamping: try reader.integer()))
        }
        reason = try reader.text()
        at = BootInstant(nanoseconds: try reader.integer())
        let high = try reader.word()
        bootID = BootID(high: high, low: try reader.word())
        try reader.finish()
    }
}

extension ByteReader {
    mutating func optionalRevision() throws(ByteCodingError) -> Revision? {
        try optional { reader throws(ByteCodingError) in Revision(rawValue: try reader.integer()) }
    }

    fileprivate mutating func optionalState() throws(ByteCodingError) -> OwnerState? {
        try optional { reader throws(ByteCodingError) in
            guard let state = OwnerState(rawValue: try reader.byte()) else { throw .malformed }
            return state
        }
    }
}
