package import CoreAPI

/// The keys of ownership in the store. One path, so that one read gives all of it at one revision.
package enum OwnershipKey {
    package static let path: KeyPrefix = ".sharedcore/ownership/"

    /// The owner. Its creation revision is the epoch.
    package static let owner: Key = ".sharedcore/ownership/owner"
    /// The request of a Main that waits for the ownership. While it exists, only its author can acquire.
    package static let handover: Key = ".sharedcore/ownership/handover"
    /// The lease of the owner's session, if it has one. Written with the acquisition.
    package static let lease: Key = ".sharedcore/ownership/lease"
    /// The critical section that the owner is in.
    package static let critical: Key = ".sharedcore/ownership/critical"
    /// The work in progress that keeps the owner's core.
    package static let activities: Key = ".sharedcore/ownership/activities"
    /// Why the store refuses the writes of the owner's core.
    package static let refusal: Key = ".sharedcore/ownership/refusal"
    /// The last challenge, to an owner or to the author of a request for hand-over.
    package static let challenge: Key = ".sharedcore/ownership/challenge"
    /// The last answer to a challenge.
    package static let answer: Key = ".sharedcore/ownership/answer"
}

/// The owner of the core. Lives with the owner's session.
package struct OwnerRecord: StoredRecord {
    package var role: SessionRole
    package var state: OwnerState
    package var name: String
    package var process: ProcessIdentity
    /// When it acquired.
    package var since: BootInstant
    /// The PID namespace of the process; 0 if its process id has no meaning in other processes.
    package var processNamespace: UInt64 = 0

    /// The value for bytes that cannot be read: an owner that can neither answer nor be killed, so an unanswered
    /// challenge removes it.
    package static let unreadable = OwnerRecord(
        role: .tool, state: .running, name: "",
        process: ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 0, startTime: 0),
        since: BootInstant(nanoseconds: 0))
}

extension OwnerRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        role = SessionRole(rawValue: try reader.text())
        guard let state = OwnerState(rawValue: try reader.byte()) else { throw .malformed }
        self.state = state
        name = try reader.text()
        process = try reader.process()
        since = try reader.instant()
        processNamespace = try reader.word()
    }

    package func write(into writer: inout ByteWriter) {
        writer.text(role.rawValue)
        writer.byte(state.rawValue)
        writer.text(name)
        writer.process(process)
        writer.instant(since)
        writer.word(processNamespace)
    }
}

/// How long the owner's session lasts without a message from its participant. Lives with that session.
package struct LeaseRecord: StoredRecord {
    package var duration: Duration

    package init(duration: Duration) {
        self.duration = duration
    }

    package static let unreadable = LeaseRecord(duration: .zero)
}

extension LeaseRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        duration = try reader.duration()
    }

    package func write(into writer: inout ByteWriter) {
        writer.duration(duration)
    }
}

/// A Main's request for ownership. Lives with the session of the Main that asks.
package struct HandoverRecord: StoredRecord {
    /// The name of the Main for people.
    package var name: String
    /// The time of the request.
    package var askedAt: BootInstant
    /// How long the request waits, without a critical section's bound.
    package var deadline: Duration
    /// True if the request also applies to an owner that is a Main.
    package var takesOverMain: Bool
    /// True if the deadline has passed and the owner's process is about to be killed: an owner that releases its
    /// ownership after this was too late.
    package var isKilling = false
    /// The process of the Main, to be checked if it does not answer; an empty identity if the process is not known.
    package var process = ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 0, startTime: 0)
    /// True if it does not wait for the owner's activities. Layout 2.
    package var insists = false
    /// The kinds of batons that its core takes. ``OwnershipView`` fills them in from ``TakesRecord``; no layout of this
    /// record has them.
    package var takes: [String] = []
    /// The places to which the author's batons can be sent, from the same record.
    package var reach = OwnReach.machine

    package static let newestLayout: UInt8 = 2
    package var layout: UInt8 { insists ? 2 : 1 }

    package static let unreadable = HandoverRecord(
        name: "", askedAt: BootInstant(nanoseconds: 0), deadline: .zero, takesOverMain: false)
}

extension HandoverRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        name = try reader.text()
        askedAt = try reader.instant()
        deadline = try reader.duration()
        takesOverMain = try reader.flag()
        isKilling = try reader.flag()
        process = try reader.process()
        insists = layout >= 2 ? try reader.flag() : false
    }

    package func write(into writer: inout ByteWriter) {
        writer.text(name)
        writer.instant(askedAt)
        writer.duration(deadline)
        writer.flag(takesOverMain)
        writer.flag(isKilling)
        writer.process(process)
        if layout >= 2 { writer.flag(insists) }
    }
}

/// A challenge: a participant asks whether the holder of a claim still runs.
package struct ChallengeRecord: StoredRecord {
    /// The creation revision of the challenged entry: the owner entry or a request for hand-over.
    package var claim: Revision
    /// The commit of the first challenge if this one repeats it, in case its wake-up was lost. An answer to the first
    /// counts.
    package var first: Revision?

    package static let unreadable = ChallengeRecord(claim: .zero)
}

extension ChallengeRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        claim = try reader.revision()
        first = try reader.optional { reader throws(ByteCodingError) in try reader.revision() }
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(claim)
        writer.optional(first) { $0.revision($1) }
    }
}

/// A holder's proof that it runs. Lives with its session.
package struct AnswerRecord: StoredRecord {
    /// The claim that it holds.
    package var claim: Revision
    /// The commit of the challenge that it answers.
    package var challenge: Revision

    package static let unreadable = AnswerRecord(claim: .zero, challenge: .zero)
}

extension AnswerRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        claim = try reader.revision()
        challenge = try reader.revision()
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(claim)
        writer.revision(challenge)
    }
}

/// A section of an owner's work that may finish before a hand-over. Lives with the owner's session.
package struct CriticalRecord: StoredRecord {
    /// The ownership under which it was entered.
    package var epoch: Revision
    /// How long the section may delay a hand-over.
    package var bound: Duration

    package init(epoch: Revision, bound: Duration) {
        self.epoch = epoch
        self.bound = bound
    }

    package static let unreadable = CriticalRecord(epoch: .zero, bound: .zero)
}

extension CriticalRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        epoch = try reader.revision()
        bound = try reader.duration()
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(epoch)
        writer.duration(bound)
    }
}

extension CriticalRecord {
    /// Returns the transaction that enters a section. It fails while a request is pending, while the owner rests, and
    /// if a section is open.
    package static func entering(_ epoch: Revision, bound: Duration) -> Transaction {
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        transaction.require(.absent(OwnershipKey.handover))
        transaction.require(.absent(OwnershipKey.rest))
        transaction.require(.absent(OwnershipKey.critical))
        transaction.put(
            OwnershipKey.critical, CriticalRecord(epoch: epoch, bound: bound).bytes, lifetime: .session)
        return transaction
    }

    /// Returns the transaction that leaves a section.
    package static func leaving(_ epoch: Revision) -> Transaction {
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        transaction.delete(OwnershipKey.critical)
        return transaction
    }
}

/// The store's refusal of the writes of the owner's core. Lives with the owner's session.
package struct RefusalRecord: StoredRecord {
    /// The reasons that are distinguished.
    package enum Reason: UInt8, Sendable {
        case other = 0
        case storageFull = 1
        case limitExceeded = 2
    }

    /// The ownership under which the core runs.
    package var epoch: Revision
    package var reason: Reason
    /// The error for people.
    package var text: String

    package init(epoch: Revision, reason: Reason, text: String) {
        self.epoch = epoch
        self.reason = reason
        self.text = text
    }

    init(_ error: SharedCoreError, under epoch: Revision) {
        self.epoch = epoch
        reason =
            switch error.code {
            case .storageFull: .storageFull
            case .limitExceeded: .limitExceeded
            default: .other
            }
        // The record is small, so that a full store has room for it.
        text = String(error.message.prefix(200))
    }

    package static let unreadable = RefusalRecord(epoch: .zero, reason: .other, text: "")

    /// The error as the process of the core met it.
    var error: SharedCoreError {
        let code: SharedCoreError.Code =
            switch reason {
            case .storageFull: .storageFull
            case .limitExceeded: .limitExceeded
            case .other: .unavailable
            }
        return SharedCoreError(code, text, at: OwnershipKey.refusal.text)
    }

    /// Returns the refusal that was recorded under an ownership; nil if there is none.
    static func standing(under epoch: Revision, in view: OwnershipView) -> RefusalRecord? {
        guard let record = view.refusal?.record, record.epoch == epoch else { return nil }
        return record
    }
}

extension RefusalRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        epoch = try reader.revision()
        reason = Reason(rawValue: try reader.byte()) ?? .other
        text = try reader.text()
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(epoch)
        writer.byte(reason.rawValue)
        writer.text(text)
    }
}
