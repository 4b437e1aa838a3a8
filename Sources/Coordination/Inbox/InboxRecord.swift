internal import CoreAPI

/// A message as it stands in the inbox.
///
/// | bytes | what |
/// |---|---|
/// | 1 | version, 1 |
/// | text | call-id: the item's name may be only its hash |
/// | 1 | content: 1 text, 2 invitation by a version that did not keep the inviter, 3 invitation, 4 too large |
/// | texts | 1: from, to, text; 2: subject, local address; 3: from, subject, local address; 4: from, to |
struct InboxRecord: Hashable {
    let message: InboxMessage

    /// The bytes of a message; nil for one without anything to show, which leaves an ``InboxMark`` instead.
    static func encoded(_ message: InboxMessage) -> [UInt8]? {
        var writer = ByteWriter()
        writer.byte(InboxCoding.version)
        writer.text(message.callID.text)
        switch message.content {
        case .text(let from, let to, let text):
            writer.byte(textTag)
            writer.text(from)
            writer.text(to)
            writer.text(text)
        case .invitation(let from, let subject, let localAddress):
            writer.byte(invitationTag)
            writer.text(from)
            writer.text(subject)
            writer.text(localAddress)
        case .tooLarge(let from, let to):
            writer.byte(tooLargeTag)
            writer.text(from)
            writer.text(to)
        case .nothingToShow:
            return nil
        }
        return writer.bytes
    }

    init(decoding entry: Entry, for callID: CallID) throws(SharedCoreError) {
        message = try InboxCoding.decode(entry, for: callID) { reader, callID throws(ByteCodingError) in
            switch try reader.byte() {
            case Self.textTag:
                let from = try reader.text()
                let to = try reader.text()
                return InboxMessage(callID: callID, content: .text(from: from, to: to, text: try reader.text()))
            case let tag where tag == Self.invitationTag || tag == Self.anonymousInvitationTag:
                let from = tag == Self.invitationTag ? try reader.text() : ""
                let subject = try reader.text()
                return InboxMessage(
                    callID: callID,
                    content: .invitation(from: from, subject: subject, localAddress: try reader.text()))
            case Self.tooLargeTag:
                let from = try reader.text()
                return InboxMessage(callID: callID, content: .tooLarge(from: from, to: try reader.text()))
            default:
                throw .malformed
            }
        }
    }

    private static let textTag: UInt8 = 1
    private static let anonymousInvitationTag: UInt8 = 2
    private static let invitationTag: UInt8 = 3
    private static let tooLargeTag: UInt8 = 4
}

/// What the inbox remembers of a call-id for which it holds no message: version, call-id, reason.
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

/// What records and marks of the inbox have in common: the version, then the call-id.
enum InboxCoding {
    static let version: UInt8 = 1

    /// The call-id of a record or a mark; nil for one that cannot be read here.
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
            throw SharedCoreError(
                .corrupt, "An inbox record cannot be read.", at: entry.key.text, cause: "\(error)")
        }
    }
}
