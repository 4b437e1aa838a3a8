/// The conference in an invitation's document (RFC 4575).
struct ConferenceInformation: Hashable, Sendable {
    static let contentType = "application/conference-info+xml"

    /// The address of the conference; nil if the document has none.
    let address: String?
    /// The subject of the conference; nil if the document has none.
    let subject: String?

    /// Searches for the two values, in one pass for each. The rest of the document is not used, and not checked.
    init(document: String) {
        let document = Array(document.utf8)
        let root = document.firstRange(ofText: "<conference-info").map { found in
            document[found.upperBound...].prefix { $0 != UInt8(ascii: ">") }
        }
        address = root.flatMap { root in
            Self.text(in: root, between: " entity=\"", and: "\"") ?? Self.text(in: root, between: " entity='", and: "'")
        }
        subject = Self.text(in: document[...], between: "<subject>", and: "</subject>")
    }

    private static func text(
        in part: ArraySlice<UInt8>, between start: StaticString, and end: StaticString
    ) -> String? {
        guard let start = part.firstRange(ofText: start)?.upperBound,
            let end = part.firstRange(ofText: end, from: start)?.lowerBound
        else { return nil }
        let text = MailText.line(String(decoding: MarkupEntities.decode(part[start..<end]), as: UTF8.self))
        return text.isEmpty ? nil : text
    }
}
