/// Addresses in the text of a header.
enum MailAddress {
    /// Whether the text holds an address of SIP, telephony or XMPP.
    static func isURI(_ text: String) -> Bool {
        let address = bare(text).lowercased()
        return ["sip:", "sips:", "tel:", "im:", "xmpp:"].contains { address.hasPrefix($0) }
    }

    /// The address alone: what stands in the last angle brackets, or the whole text where there are none.
    static func bare(_ text: String) -> String {
        guard let end = text.lastIndex(of: ">"), let start = text[..<end].lastIndex(of: "<") else { return text }
        return String(text[text.index(after: start)..<end])
    }
}
