internal import CoreAPI

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
            let text = try reader.text()
            // Compared by bytes: a call-id is not a text in a language.
            guard text.utf8.elementsEqual(callID.text.utf8) else { throw ByteCodingError.malformed }
            let value = try read(&reader, callID)
            try reader.finish()
            return value
        } catch {
            throw SharedCoreError(
                .corrupt, "An inbox record cannot be read.", at: entry.key.text, cause: "\(error)")
        }
    }
}
