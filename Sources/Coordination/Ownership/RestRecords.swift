package import CoreAPI

/// The keys of a Main at rest, below ``OwnershipKey/path``.
///
/// Source: contract C26.
extension OwnershipKey {
    /// The record of a Main that offers its ownership to the holder, or rests.
    package static let rest: Key = ".sharedcore/ownership/rest"
    /// The record that wakes the Main that rests.
    package static let wake: Key = ".sharedcore/ownership/wake"
    /// The process that owns for Mains that rest.
    package static let holder: Key = ".sharedcore/ownership/holder"

    /// The prefixes that a sleeping Main watches.
    package static let ofSleep: [KeyPrefix] = [
        ".sharedcore/ownership/owner", ".sharedcore/ownership/rest", ".sharedcore/ownership/wake",
    ]
}

/// A Main's offer of its ownership to the holder and, once the holder has accepted it, the Main's rest. Lives with the
/// Main's session.
package struct RestRecord: StoredRecord {
    /// The ownership that is offered.
    package var epoch: Revision
    /// The name of the Main for people.
    package var name: String
    /// Its process.
    package var process: ProcessIdentity

    package init(epoch: Revision, name: String, process: ProcessIdentity) {
        self.epoch = epoch
        self.name = name
        self.process = process
    }

    package static let unreadable = RestRecord(
        epoch: .zero, name: "", process: ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 0, startTime: 0))
}

extension RestRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        epoch = try reader.revision()
        name = try reader.text()
        process = try reader.process()
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(epoch)
        writer.text(name)
        writer.process(process)
    }
}

/// The wake of a Main that rests, written by a participant that needs it. It applies to one rest, and has no effect
/// after that rest.
package struct WakeRecord: StoredRecord {
    /// The creation revision of the rest.
    package var claim: Revision
    /// The reason why the Main is needed.
    package var reason: Wake
    /// The commit of the first wake if this one repeats it, in case its signal was lost.
    package var first: Revision?

    package init(claim: Revision, reason: Wake, first: Revision? = nil) {
        self.claim = claim
        self.reason = reason
        self.first = first
    }

    package static let unreadable = WakeRecord(claim: .zero, reason: .user)
}

extension WakeRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        claim = try reader.revision()
        reason = Wake(rawValue: try reader.byte()) ?? .user
        first = try reader.optional { reader throws(ByteCodingError) in try reader.revision() }
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(claim)
        writer.byte(reason.rawValue)
        writer.optional(first) { $0.revision($1) }
    }
}

/// A process that owns for a Main that rests. Lives with its session.
package struct HolderRecord: StoredRecord {
    /// Its process.
    package var process: ProcessIdentity
    /// The PID namespace of the process; 0 if its process id has no meaning in other processes.
    package var processNamespace: UInt64

    package init(process: ProcessIdentity, processNamespace: UInt64) {
        self.process = process
        self.processNamespace = processNamespace
    }

    package static let unreadable = HolderRecord(
        process: ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 0, startTime: 0), processNamespace: 0)
}

extension HolderRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        process = try reader.process()
        processNamespace = try reader.word()
    }

    package func write(into writer: inout ByteWriter) {
        writer.process(process)
        writer.word(processNamespace)
    }
}

/// Why a Main that rests is woken.
///
/// Source: contract C26.
public struct Wake: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8

    package init?(rawValue: UInt8) {
        guard (1...6).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    private init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Data came on a kept socket.
    public static let data = Wake(1)
    /// A push came.
    public static let push = Wake(2)
    /// A call waits for its message.
    public static let call = Wake(3)
    /// Another Main needs the ownership, or its answer.
    public static let handover = Wake(4)
    /// A keep-alive is due.
    public static let keepAlive = Wake(5)
    /// The Main's application called ``MainParticipant/resume(for:)``, or the rest ended for a reason without a value
    /// of its own.
    public static let user = Wake(6)

    public var description: String {
        switch self {
        case .data: "data"
        case .push: "push"
        case .call: "call"
        case .handover: "handover"
        case .keepAlive: "keepAlive"
        default: "user"
        }
    }
}

extension OwnershipView {
    /// The rest of the Main for which the present owner holds; nil if no rest is in progress.
    package var sleeper: Standing<RestRecord>? {
        guard let rest, let owner, rest.record.epoch == owner.claim, rest.session != owner.session else { return nil }
        return rest
    }

    /// The rest that the owning Main of a session offers and that no holder has accepted yet.
    package var offer: Standing<RestRecord>? {
        guard let rest, let owner, rest.record.epoch == owner.claim, rest.session == owner.session else { return nil }
        return rest
    }

    /// Returns the wake for a rest.
    package func wake(of rest: Standing<RestRecord>) -> Standing<WakeRecord>? {
        wake.flatMap { $0.record.claim == rest.claim ? $0 : nil }
    }

    /// Returns the session that must answer challenges to a claim now; nil if the claim has ended.
    package func answerer(of claim: Revision) -> SessionID? {
        if owner?.claim == claim { return owner?.session }
        return handover?.claim == claim ? handover?.session : nil
    }
}

/// A participant's wait for a Main that it has woken, in its own running time.
package struct WakeWait: Hashable, Sendable {
    /// The rest that this wait is for.
    package let rest: Revision
    package var waitingTime: RunningTime
    /// The waiting time at which the wake was repeated; nil if it was not repeated.
    package var remindedAt: Duration?

    package init(rest: Revision, from now: BootInstant) {
        self.rest = rest
        waitingTime = RunningTime(from: now)
    }

    /// The next step of a wait for a Main that rests.
    package enum Step: Hashable, Sendable {
        case wake
        case wakeAgain
        /// Ask again at this moment.
        case waits(until: BootInstant)
        /// The Main has not resumed within the bound.
        case isOver
    }

    /// Returns the next step of a wait. A wake is repeated after half of the bound, and the other half begins with the
    /// repetition.
    package static func next(
        _ wait: inout WakeWait?, of rest: Standing<RestRecord>, in view: OwnershipView, within bound: Duration,
        at now: BootInstant
    ) -> Step {
        guard let wake = view.wake(of: rest) else {
            wait = nil
            return .wake
        }
        var counting = wait ?? WakeWait(rest: rest.claim, from: now)
        if counting.rest != rest.claim { counting = WakeWait(rest: rest.claim, from: now) }
        counting.waitingTime.count(to: now)
        defer { wait = counting }
        let half = bound / 2
        let elapsed = counting.waitingTime.elapsed
        guard wake.record.first != nil else {
            guard elapsed < half else { return .wakeAgain }
            return .waits(until: counting.waitingTime.nextCount(limit: half))
        }
        let remindedAt = min(counting.remindedAt ?? elapsed, elapsed)
        counting.remindedAt = remindedAt
        let limit = max(bound, remindedAt + half)
        guard elapsed < limit else { return .isOver }
        return .waits(until: counting.waitingTime.nextCount(limit: limit))
    }
}

extension Transaction {
    /// Wakes the Main of a rest, or repeats the wake, while the rest exists.
    mutating func wake(_ rest: Standing<RestRecord>, for reason: Wake, in view: OwnershipView) {
        require(.revision(OwnershipKey.rest, rest.revision))
        require(view.wake.map { .revision(OwnershipKey.wake, $0.revision) } ?? .absent(OwnershipKey.wake))
        let former = view.wake(of: rest)
        let first = former.map { $0.record.first ?? $0.revision }
        let record = WakeRecord(claim: rest.claim, reason: former?.record.reason ?? reason, first: first)
        put(OwnershipKey.wake, record.bytes)
    }

    /// Ends a rest, and removes its wake.
    mutating func endRest(_ rest: Standing<RestRecord>?) {
        guard let rest else { return require(.absent(OwnershipKey.rest)) }
        require(.revision(OwnershipKey.rest, rest.revision))
        delete(OwnershipKey.rest)
        delete(OwnershipKey.wake)
    }
}
