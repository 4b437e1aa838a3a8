package import CoreAPI
package import Mailboxes

/// That somebody waits for a call-id, and how long. Lives with the session of the one who waits.
package struct Expectation: StoredRecord {
    /// Selects all expectations.
    package static let path: KeyPrefix = ".sharedcore/expectations/"

    /// The run of the machine that ``deadline`` counts in.
    package var bootID: BootID
    package var deadline: BootInstant

    package init(bootID: BootID, deadline: BootInstant) {
        self.bootID = bootID
        self.deadline = deadline
    }

    /// One that nobody waits for any more.
    package static let unreadable = Expectation(
        bootID: BootID(high: 0, low: 0), deadline: BootInstant(nanoseconds: 0))

    /// Where the expectation of a session for a call-id stands.
    package static func key(of item: ItemName, for session: SessionID) throws(SharedCoreError) -> Key {
        try Key(path.path + item.text + "/" + session.description)
    }

    /// What a key under ``path`` is about; nil for one of another form.
    package static func place(of key: Key) -> (item: ItemName, session: String)? {
        guard path.contains(key) else { return nil }
        let parts = key.text.dropFirst(path.path.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return (ItemName(part: parts[0]), String(parts[1]))
    }
}

extension Expectation {
    package init(reading reader: inout ByteReader) throws(ByteCodingError) {
        bootID = BootID(high: try reader.word(), low: try reader.word())
        deadline = try reader.instant()
    }

    package func write(into writer: inout ByteWriter) {
        writer.word(bootID.high)
        writer.word(bootID.low)
        writer.instant(deadline)
    }
}
