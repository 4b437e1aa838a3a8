internal import CoreAPI
internal import Mailboxes

/// The record of a message in the inbox, without its ``InboxDetails``.
///
/// ``ByteWriter`` writes these fields, in this order:
///
/// | form | content |
/// |---|---|
/// | byte | version, 1 |
/// | text | call-id, because the item's name may be only its hash |
/// | byte | tag of the content: 1 text, 2 invitation by a version that did not keep the inviter, 3 invitation, 4 too large |
/// | texts | by tag: 1: from, to, text; 2: subject, local address; 3: from, subject, local address; 4: from, to |
///
/// A message of any other kind has the tag 1, so that a version without details shows its sender and its text.
struct InboxRecord: Hashable {
    let content: InboxMessage.Content

    /// Returns the bytes of a message; nil for one without anything to show, which leaves an ``InboxMark`` instead.
    static func encoded(_ message: InboxMessage) -> [UInt8]? {
        let content = message.content
        guard content.kind != .nothing else { return nil }
        var writer = ByteWriter()
        writer.byte(InboxCoding.version)
        writer.text(message.callID.text)
        let tag = tag(of: content)
        writer.byte(tag)
        writer.text(content.sender)
        switch tag {
        case invitationTag:
            writer.text(content.text)
            writer.text(content.recipient)
        case tooLargeTag:
            writer.text(content.recipient)
        default:
            writer.text(content.recipient)
            writer.text(content.text)
        }
        return writer.bytes
    }

    init(decoding entry: Entry, for callID: CallID) throws(SharedCoreError) {
        content = try InboxCoding.decode(entry, for: callID) { reader, callID throws(ByteCodingError) in
            switch try reader.byte() {
            case Self.textTag:
                let from = try reader.text()
                let to = try reader.text()
                return .text(from: from, to: to, text: try reader.text())
            case let tag where tag == Self.invitationTag || tag == Self.anonymousInvitationTag:
                let from = tag == Self.invitationTag ? try reader.text() : ""
                let subject = try reader.text()
                return .invitation(from: from, subject: subject, localAddress: try reader.text())
            case Self.tooLargeTag:
                let from = try reader.text()
                return .tooLarge(from: from, to: try reader.text())
            default:
                throw .malformed
            }
        }
    }

    /// Returns the tag of a message, which gives its kind if it has no details.
    private static func tag(of content: InboxMessage.Content) -> UInt8 {
        switch content.kind {
        case .invitation: invitationTag
        case .tooLarge where content.text.isEmpty: tooLargeTag
        default: textTag
        }
    }

    /// Returns true if the record alone does not determine the kind.
    static func needsKind(_ content: InboxMessage.Content) -> Bool {
        switch tag(of: content) {
        case invitationTag, tooLargeTag: false
        default: content.kind != .text
        }
    }

    private static let textTag: UInt8 = 1
    private static let anonymousInvitationTag: UInt8 = 2
    private static let invitationTag: UInt8 = 3
    private static let tooLargeTag: UInt8 = 4
}

/// The details of a message beside its ``InboxRecord``, in a separate entry that is put in the same commit: version,
/// kind, then fields. Each field is a number and counted bytes; a reader skips unknown fields.
///
/// | number | what |
/// |---|---|
/// | 1 | account |
/// | 2 | conversation |
/// | 3 | time since 1970: seconds and attoseconds, a word each |
/// | 4 | content type |
/// | 5 | body |
/// | 6 | a field of the application: name and value; any number of them |
enum InboxDetails {
    private static let version: UInt8 = 1
    private static let account: UInt64 = 1
    private static let conversation: UInt64 = 2
    private static let time: UInt64 = 3
    private static let contentType: UInt64 = 4
    private static let body: UInt64 = 5
    private static let field: UInt64 = 6

    /// Returns the bytes of the content beyond the record; nil if the record has all of the message.
    static func encoded(_ content: InboxMessage.Content) -> [UInt8]? {
        let parts = parts(of: content)
        guard InboxRecord.needsKind(content) || !parts.isEmpty else { return nil }
        var writer = ByteWriter()
        writer.byte(version)
        writer.text(content.kind.name)
        for (number, bytes) in parts {
            writer.integer(number)
            writer.data(bytes)
        }
        return writer.bytes
    }

    private static func parts(of content: InboxMessage.Content) -> [(UInt64, [UInt8])] {
        var parts: [(UInt64, [UInt8])] = []
        if let text = content.account { parts.append((account, Array(text.utf8))) }
        if let text = content.conversation { parts.append((conversation, Array(text.utf8))) }
        if let time = content.time?.components {
            var writer = ByteWriter()
            writer.word(UInt64(bitPattern: time.seconds))
            writer.word(UInt64(bitPattern: time.attoseconds))
            parts.append((Self.time, writer.bytes))
        }
        if let text = content.contentType { parts.append((contentType, Array(text.utf8))) }
        if !content.body.isEmpty { parts.append((body, content.body)) }
        for (name, value) in content.fields.sorted(by: { $0.key < $1.key }) {
            var writer = ByteWriter()
            writer.text(name)
            writer.text(value)
            parts.append((field, writer.bytes))
        }
        return parts
    }

    /// Adds the details of an entry to the content of the record. Details that a later version has written, in a way
    /// that this one cannot read, make the kind ``InboxMessage/Kind/other`` and add nothing.
    static func add(_ entry: Entry, to content: inout InboxMessage.Content) throws(SharedCoreError) {
        if let found = entry.value.first, found > version {
            content.kind = .other
            return
        }
        do throws(ByteCodingError) {
            var reader = ByteReader(entry.value.dropFirst())
            guard entry.value.first == version else { throw .malformed }
            content.kind = InboxMessage.Kind(try reader.text()) ?? .other
            while reader.remaining > 0 { try add(try reader.integer(), try reader.slice(), to: &content) }
        } catch {
            throw InboxCoding.damage(of: entry, error)
        }
    }

    private static func add(
        _ number: UInt64, _ bytes: ArraySlice<UInt8>, to content: inout InboxMessage.Content
    ) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        switch number {
        case account: content.account = try text(bytes)
        case conversation: content.conversation = try text(bytes)
        case time:
            let seconds = Int64(bitPattern: try reader.word())
            let attoseconds = Int64(bitPattern: try reader.word())
            // A second has 10^18 attoseconds. A larger number is damage, and adding it could overflow.
            guard (-999_999_999_999_999_999...999_999_999_999_999_999).contains(attoseconds) else { throw .malformed }
            let time = Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
            guard InboxMessage.Content.times.contains(time) else { throw .malformed }
            content.time = time
        case contentType: content.contentType = try text(bytes)
        case body: content.body = Array(bytes)
        case field:
            let name = try reader.text()
            content.fields[name] = try reader.text()
        default: break
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(ByteCodingError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed }
        return text
    }
}

extension InboxMessage {
    /// Reads a message from the entries of an item.
    ///
    /// - Parameter entry: The entry of the item that holds the message.
    /// - Throws: ``SharedCoreError/Code/corrupt`` or ``SharedCoreError/Code/incompatible`` for bytes that are no record
    ///   of this version.
    init(_ entry: Entry, of item: QueueItem, id: MessageID) throws(SharedCoreError) {
        var content = try InboxRecord(decoding: entry, for: id.callID).content
        // Details from another commit belong to an earlier message: a program version that knows no details
        // acknowledged that message and left them.
        if let details = item.details, details.revision == entry.revision {
            try InboxDetails.add(details, to: &content)
        }
        self.init(id: id, content: content)
    }
}

/// The mark that the inbox keeps for a call-id without a message: version, call-id, reason.
struct InboxMark: Hashable {
    enum Reason: UInt8, Hashable {
        case acknowledged = 1
        case nothingToShow = 2
    }

    let reason: Reason
    let callID: CallID

    init(reason: Reason, callID: CallID) {
        self.reason = reason
        self.callID = callID
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(InboxCoding.version)
        writer.text(callID.text)
        writer.byte(reason.rawValue)
        return writer.bytes
    }

    init(decoding entry: Entry, for callID: CallID) throws(SharedCoreError) {
        self = try InboxCoding.decode(entry, for: callID) { reader, callID throws(ByteCodingError) in
            guard let reason = Reason(rawValue: try reader.byte()) else { throw .malformed }
            return InboxMark(reason: reason, callID: callID)
        }
    }
}

/// The common start of the inbox's records and marks: the version, then the call-id.
enum InboxCoding {
    static let version: UInt8 = 1

    /// Returns the call-id of a record or a mark; nil for one that cannot be read here.
    static func callID(of entry: Entry) -> CallID? {
        guard entry.value.first == version else { return nil }
        var reader = ByteReader(entry.value.dropFirst())
        return (try? reader.text()).flatMap { CallID($0) }
    }

    static func decode<Value>(
        _ entry: Entry, for callID: CallID,
        _ read: (inout ByteReader, CallID) throws(ByteCodingError) -> Value
    ) throws(SharedCoreError) -> Value {
        guard entry.value.first == version else {
            throw SharedCoreError(
                .incompatible,
                "An inbox record has version \(entry.value.first ?? 0), this program knows \(version).",
                at: entry.key.text)
        }
        var reader = ByteReader(entry.value.dropFirst())
        do throws(ByteCodingError) {
            guard CallID(try reader.text()) == callID else { throw ByteCodingError.malformed }
            let value = try read(&reader, callID)
            try reader.finish()
            return value
        } catch {
            throw damage(of: entry, error)
        }
    }

    static func damage(of entry: Entry, _ error: ByteCodingError) -> SharedCoreError {
        SharedCoreError(.corrupt, "An inbox record cannot be read.", at: entry.key.text, cause: "\(error)")
    }
}
