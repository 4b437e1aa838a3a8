/// Addresses in the text of a header.
enum MailAddress {
    /// Returns whether the text holds an address of SIP, telephony or XMPP.
    static func isURI(_ text: String) -> Bool {
        let address = bare(text).lowercased()
        return ["sip:", "sips:", "tel:", "im:", "xmpp:"].contains { address.utf8.starts(with: $0.utf8) }
    }

    /// Returns the address without a name: the text in the last angle brackets, or the whole text if there are none.
    static func bare(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard let end = bytes.lastIndex(of: UInt8(ascii: ">")),
            let start = bytes[..<end].lastIndex(of: UInt8(ascii: "<"))
        else { return text }
        return String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
    }
}
