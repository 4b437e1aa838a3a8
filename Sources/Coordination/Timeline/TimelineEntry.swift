public import CoreAPI

/// One thing that happened to the ownership of the core, told by the participant that did it, in the same transaction.
///
/// Source: contract C15.
public struct TimelineEntry: Hashable, Sendable {
    /// The longest reason, in bytes of UTF-8. A longer one is cut at a character.
    public static let maximumReasonByteCount = 512

    /// What happened.
    public var kind: Kind
    /// Who did it.
    public var participant: SessionID
    /// Its process.
    public var pid: Int32
    /// What it is.
    public var role: SessionRole
    /// Its name for people.
    public var name: String
    /// The epoch of the participant's own ownership; nil when it has none.
    ///
    /// For an acquisition it is the revision of the entry's own commit. Leave it nil when writing one: reading fills it
    /// in.
    public var epoch: Revision?
    /// The epoch of the other ownership that this is about: the one asked, challenged, killed, or seen to run.
    public var other: Revision?
    /// The owner's state before.
    public var from: OwnerState?
    /// The owner's state after.
    public var to: OwnerState?
    /// For an acquisition: the ownership before it.
    public var previous: PreviousOwnership?
    /// A time that goes with it: for ``Kind/asked``, how long the owner has.
    public var bound: Duration?
    /// Why, as a sentence for people.
    public var reason: String {
        didSet { reason = Self.cut(reason) }
    }
    /// When, by the clock of the machine's run ``bootID``.
    public var at: BootInstant
    /// The run of the machine.
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

    private static func cut(_ reason: String) -> String {
        guard reason.utf8.count > maximumReasonByteCount else { return reason }
        var cut = reason
        while cut.utf8.count > maximumReasonByteCount { cut.removeLast() }
        return cut
    }
}
