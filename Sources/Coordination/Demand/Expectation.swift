package import CoreAPI
package import Mailboxes

/// The record that a participant waits for a message identity, with the deadline of the wait. Lives with that
/// participant's session.
package struct Expectation: StoredRecord {
    /// Selects all expectations.
    package static let path: KeyPrefix = ".sharedcore/expectations/"

    /// The boot of the machine since which ``deadline`` counts.
    package var bootID: BootID
    package var deadline: BootInstant

    package init(bootID: BootID, deadline: BootInstant) {
        self.bootID = bootID
        self.deadline = deadline
    }

    /// The value for bytes that cannot be read: an expectation with a deadline in the past.
    package static let unreadable = Expectation(
        bootID: BootID(high: 0, low: 0), deadline: BootInstant(nanoseconds: 0))

    /// Returns the key of a session's expectation for an item of the inbox.
    package static func key(of item: ItemName, for session: SessionID) throws(SharedCoreError) -> Key {
        try Key(path.path + item.text + "/" + session.description)
    }

    /// Returns the item and the session that a key under ``path`` names; nil for a key of another form.
    package static func place(of key: Key) -> (item: ItemName, session: String)? {
        guard path.contains(key) else { return nil }
        let parts = key.text.dropFirst(path.path.count).split(separator: "/", omittingEmptySubsequences: false)
        // The item of an identity with a sequence has two parts.
        guard let session = parts.last, (2...3).contains(parts.count) else { return nil }
        return (ItemName(part: parts.dropLast().joined(separator: "/")), String(session))
    }
}

extension Expectation {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        bootID = BootID(high: try reader.word(), low: try reader.word())
        deadline = try reader.instant()
    }

    package func write(into writer: inout ByteWriter) {
        writer.word(bootID.high)
        writer.word(bootID.low)
        writer.instant(deadline)
    }
}

/// The waits of one participant's calls, by item. The calls for one item share one expectation in the store.
package struct OwnExpectations: Sendable {
    private var deadlines: [ItemName: [Int: BootInstant]] = [:]

    package init() {}

    /// Records that a call waits. Returns the deadline that the expectation must have.
    @discardableResult
    package mutating func expect(_ item: ItemName, before deadline: BootInstant, as number: Int) -> BootInstant {
        deadlines[item, default: [:]][number] = deadline
        return self.deadline(of: item) ?? deadline
    }

    /// Returns true if the call of this number waits for the item.
    package func has(_ item: ItemName, for number: Int) -> Bool { deadlines[item]?[number] != nil }

    /// Returns the deadline that the expectation of an item must have; nil when no call waits for it.
    package func deadline(of item: ItemName) -> BootInstant? {
        deadlines[item]?.values.max()
    }

    /// Records that a call waits no more. Returns true if the expectation must be removed.
    package mutating func forget(_ item: ItemName, as number: Int) -> Bool {
        deadlines[item]?[number] = nil
        guard deadlines[item]?.isEmpty == true else { return false }
        deadlines[item] = nil
        return true
    }
}
