/// The head of a request of HTTP/1.1, without its last empty line.
///
/// Folded lines, repeated fields of ``single`` and bodies are refused and not repaired, because proxies and servers
/// read them differently.
///
/// Source: RFC 9112, RFC 9110.
struct WebRequest: Hashable, Sendable {
    let method: String
    let path: String
    /// The fields of the query, decoded.
    let query: [String: String]
    private let fields: [String: String]

    /// The fields that may occur only once in a request.
    private static let single: Set = [
        "host", "origin", "cookie", "content-length", "transfer-encoding", "sec-fetch-site", "sec-fetch-mode",
        "sec-fetch-dest", "last-event-id", "x-sharedcore-token", "x-sharedcore-key",
        "x-sharedcore-action",
    ]

    /// Returns the value of a field by its name in lower case; nil if there is none.
    subscript(name: String) -> String? { fields[name] }

    /// Nil for a head that is not well formed, and for a request with a body.
    init?(_ head: [UInt8]) {
        guard let text = String(validating: head, as: UTF8.self),
            text.unicodeScalars.allSatisfy({
                $0.value >= 0x20 && $0.value < 0x7f || "\t\r\n".unicodeScalars.contains($0)
            })
        else { return nil }
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { line in Array(line) }
        for index in lines.indices.dropLast() {
            guard lines[index].popLast() == UInt8(ascii: "\r") else { return nil }
        }
        guard !lines.contains(where: { $0.contains(UInt8(ascii: "\r")) }) else { return nil }
        let words = String(decoding: lines[0], as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", words[1].hasPrefix("/"),
            !words[0].isEmpty, words[0].utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { return nil }
        method = String(words[0])
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(target[0])
        guard let query = Self.query(target.count > 1 ? target[1] : "") else { return nil }
        self.query = query

        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
                line[..<colon].allSatisfy(Self.isOfName)
            else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
            var value = line[(colon + 1)...].drop(while: isBlank)
            while value.last.map(isBlank) == true { value.removeLast() }
            guard fields[name] == nil || !Self.single.contains(name) else { return nil }
            fields[name] = String(decoding: value, as: UTF8.self)
        }
        guard fields["host"] != nil, fields["transfer-encoding"] == nil, fields["content-length"] ?? "0" == "0" else {
            return nil
        }
        self.fields = fields
    }

    /// Source: RFC 9110, section 5.6.2.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func query(_ text: Substring) -> [String: String]? {
        var query: [String: String] = [:]
        for field in text.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(parts[0]), let value = decoded(parts.count > 1 ? parts[1] : ""),
                query.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return query
    }

    /// Returns a text with its escapes of RFC 3986 decoded; nil for a wrong escape, and for bytes that are not UTF-8.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.utf8.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
                let decoded = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
