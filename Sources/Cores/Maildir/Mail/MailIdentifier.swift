internal import Coordination

/// Reads the identifier that a push announces from the value of a mail header.
enum MailIdentifier {
    /// Returns a Call-ID (RFC 3261, 20.8): the value without folds and the white space around it.
    static func callID(_ value: [UInt8]) -> CallID? {
        text(value[...]).flatMap(CallID.init)
    }

    /// Returns a Message-ID: the text between the angle brackets, which are no part of the identifier (RFC 5322, 3.6.4).
    /// Without brackets, it is the whole value, as for ``callID(_:)``.
    static func messageID(_ value: [UInt8]) -> CallID? {
        guard let start = value.firstIndex(of: UInt8(ascii: "<")),
            let end = value[start...].firstIndex(of: UInt8(ascii: ">"))
        else { return callID(value) }
        return text(value[(start + 1)..<end]).flatMap(CallID.init)
    }

    /// Returns an identifier without its white space: that can only come from folds, because identifiers contain none.
    /// Returns nil for bytes that are not UTF-8, because repairing them could make different identifiers equal.
    private static func text(_ value: ArraySlice<UInt8>) -> String? {
        String(validating: value.filter { !MailText.isSpace($0) }, as: UTF8.self)
    }
}
