/// A request of HTTP/1.1: its head without its last empty line, and for a form its body.
///
/// Folded lines, repeated fields of ``single`` and bodies other than the form of ``PlainPage`` are refused and not
/// repaired, because proxies and servers read them differently.
///
/// Source: RFC 9112, RFC 9110.
struct WebRequest: Hashable, Sendable {
    let method: String
    let path: String
    /// The fields of the query, decoded.
    let query: [String: String]
    /// The fields of the form; empty where there is none.
    let form: [String: String]
    private let fields: [String: String]

    /// The bytes between the head and the body.
    static let terminator = Array("\r\n\r\n".utf8)
    /// The maximum number of lines of a head: parsing many short lines takes more time than the limit of its bytes
    /// suggests.
    private static let lineCount = 100
    /// The most bytes of a form.
    private static let formByteCount = 512

    /// The fields that may occur only once in a request.
    private static let single: Set = [
        "host", "origin", "cookie", "content-length", "transfer-encoding", "sec-fetch-site", "sec-fetch-mode",
        "sec-fetch-dest", "last-event-id", "x-sharedcore-token", "x-sharedcore-key",
        "x-sharedcore-action", "content-type",
    ]

    /// Returns the value of a field by its name in lower case; nil if there is none.
    subscript(name: String) -> String? { fields[name] }

    /// Returns how many bytes of a body follow a head; 0 for a request that may have none, which is then refused.
    static func bodyByteCount(after head: [UInt8]) -> Int {
        guard let request = WebRequest(head: head, body: nil), request.takesForm,
            let count = request["content-length"].flatMap({ Int($0) }), (1...formByteCount).contains(count)
        else { return 0 }
        return count
    }

    private var takesForm: Bool {
        method == "POST" && path == PlainPage.path && self["content-type"] == "application/x-www-form-urlencoded"
    }

    /// Returns nil for a head that is not well formed, and for a request with a body that is not the form.
    ///
    /// - Parameter request: The head, and where there is a body, an empty line and the body.
    init?(_ request: [UInt8]) {
        let end = request.firstRange(of: Self.terminator)
        self.init(
            head: Array(request[..<(end?.lowerBound ?? request.endIndex)]),
            body: Array(request[(end?.upperBound ?? request.endIndex)...]))
    }

    /// Parses the head of a request.
    ///
    /// - Parameter body: Nil if it is not known yet.
    private init?(head: [UInt8], body: [UInt8]?) {
        guard head.count(where: { $0 == UInt8(ascii: "\n") }) < Self.lineCount,
            let text = String(validating: head, as: UTF8.self),
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
        guard fields["host"] != nil, fields["transfer-encoding"] == nil else { return nil }
        self.fields = fields
        guard let body else {
            form = [:]
            return
        }
        guard fields["content-length"] ?? "0" == "\(body.count)",
            let form = Self.query(Substring(decoding: body, as: UTF8.self))
        else { return nil }
        self.form = form
        if !body.isEmpty, !takesForm { return nil }
    }

    /// Returns true if a byte may be in the name of a header field (`tchar`).
    ///
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
