/// A request or a response: a first line, headers, and a body with its length in a header. SIP (RFC 3261) and HTTP/1.1
/// look like that alike.
public struct Message: Hashable, Sendable {
    /// Such as `REGISTER sip:example.org SIP/2.0` or `SIP/2.0 200 OK`.
    public var firstLine: String
    /// In their order.
    public var headers: [Header]
    public var body: String

    public struct Header: Hashable, Sendable {
        public var name: String
        public var value: String
    }

    public init(_ firstLine: String, headers: [(String, String)] = [], body: String = "") {
        self.firstLine = firstLine
        self.headers = headers.map { Header(name: $0.0, value: $0.1) }
        self.body = body
    }

    /// The value of a header; the case of its name does not matter.
    public subscript(name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The first word: of a request its method, of a response the protocol.
    public var method: String { String(firstLine.prefix { $0 != " " }) }

    /// The number of a response; nil for a request.
    public var status: Int? {
        let words = firstLine.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("SIP/") || words[0].hasPrefix("HTTP/") else { return nil }
        return Int(words[1])
    }

    /// Returns a response to this request, with the headers that show to which request it belongs.
    public func response(_ status: String, headers: [(String, String)] = [], body: String = "") -> Message {
        let copied = ["Via", "From", "To", "Call-ID", "CSeq"].compactMap { name in self[name].map { (name, $0) } }
        return Message("SIP/2.0 \(status)", headers: copied + headers, body: body)
    }

    /// The bytes that go over the connection.
    public var bytes: [UInt8] {
        let lines = [firstLine] + headers.map { "\($0.name): \($0.value)" } + ["Content-Length: \(body.utf8.count)"]
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
