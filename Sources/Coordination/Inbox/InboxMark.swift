internal import CoreAPI

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
