package import CoreAPI

/// A Main's request for ownership. Lives with the session of the Main that asks.
package struct HandoverRecord: StoredRecord {
    /// The name of the Main for people.
    package var name: String
    /// When it asked.
    package var askedAt: BootInstant
    /// How long it waits, without a critical section's bound.
    package var deadline: Duration
    /// Whether another Main, too, has to let go.
    package var takesOverMain: Bool
    /// Whether the deadline has passed and the owner's process is about to be killed: an owner that lets go after this
    /// was too late.
    package var isKilling = false
    /// The process of the Main, to be looked at where it does not answer; one that nobody has where that is not known.
    package var process = ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 0, startTime: 0)

    package static let unreadable = HandoverRecord(
        name: "", askedAt: BootInstant(nanoseconds: 0), deadline: .zero, takesOverMain: false)
}

extension HandoverRecord {
    package init(reading reader: inout ByteReader) throws(ByteCodingError) {
        name = try reader.text()
        askedAt = try reader.instant()
        deadline = try reader.duration()
        takesOverMain = try reader.flag()
        isKilling = try reader.flag()
        process = try reader.process()
    }

    package func write(into writer: inout ByteWriter) {
        writer.text(name)
        writer.instant(askedAt)
        writer.duration(deadline)
        writer.flag(takesOverMain)
        writer.flag(isKilling)
        writer.process(process)
    }
}
