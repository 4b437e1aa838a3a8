/// What an invitation's document (RFC 4575) says of the conference.
struct ConferenceInformation: Hashable, Sendable {
    static let contentType = "application/conference-info+xml"

    /// The address of the conference; nil when the document names none.
    let address: String?
    /// Its subject; nil when the document names none.
    let subject: String?

    /// Looks for the two values. Nothing else of the document matters, so nothing else of it is checked.
    init(document: String) {
        let root = document.firstRange(of: "<conference-info").map { document[$0.upperBound...].prefix { $0 != ">" } }
        address = root.flatMap { Self.attribute("entity", of: $0) }
        subject = Self.element("subject", of: document)
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        for quote in ["\"", "'"] {
            guard let start = tag.firstRange(of: " \(name)=\(quote)")?.upperBound else { continue }
            guard let end = tag[start...].firstRange(of: quote)?.lowerBound else { continue }
            return plain(tag[start..<end])
        }
        return nil
    }

    private static func element(_ name: String, of document: String) -> String? {
        guard let start = document.firstRange(of: "<\(name)>")?.upperBound,
            let end = document[start...].firstRange(of: "</\(name)>")?.lowerBound
        else { return nil }
        return plain(document[start..<end])
    }

    private static func plain(_ text: Substring) -> String? {
        let text = MailText.line(MarkupEntities.decode(text))
        return text.isEmpty ? nil : text
    }
}
