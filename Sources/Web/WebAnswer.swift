internal import Coordination
internal import Mailboxes
internal import ProgramOutput
internal import SharedCoreHost

/// Answers of HTTP/1.1, with header fields that restrict the browser to what the page needs.
enum WebAnswer {
    enum Status: String {
        case ok = "200 OK"
        case badRequest = "400 Bad Request"
        case unauthorized = "401 Unauthorized"
        case forbidden = "403 Forbidden"
        case notFound = "404 Not Found"
        case notAllowed = "405 Method Not Allowed"
        case conflict = "409 Conflict"
        case misdirected = "421 Misdirected Request"
        case tooLarge = "431 Request Header Fields Too Large"
        case unavailable = "503 Service Unavailable"
    }

    /// The maximum size of a document, in bytes.
    static let documentByteCount = 1 << 20

    /// The page.
    static let page = PackageResources.page_html

    /// The content security policy of the page: its own script and style, by their hashes, and requests to its own
    /// origin.
    static let policy: String = {
        let text = String(decoding: page, as: UTF8.self)
        return "default-src 'none'; script-src \(source(of: "script", in: text)); "
            + "style-src \(source(of: "style", in: text)); connect-src 'self'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
    }()

    private static func source(of element: String, in page: String) -> String {
        guard let start = page.firstRange(of: "<\(element)>"), let end = page.firstRange(of: "</\(element)>") else {
            return "'none'"
        }
        return "'\(hash(of: String(page[start.upperBound..<end.lowerBound])))'"
    }

    /// Returns the hash of a script or a style, as a policy names it.
    static func hash(of content: String) -> String { "sha256-\(Base64.encode(SHA256(of: content.utf8).digest))" }

    static func json(_ document: JSONObject, headers: [String] = []) -> [UInt8] {
        let line = document.line
        guard line.utf8.count <= documentByteCount else {
            return problem(
                .unavailable, "The document has \(line.utf8.count) bytes, and \(documentByteCount) may be sent.")
        }
        return bytes(.ok, type: "application/json", headers: headers, body: Array(line.utf8))
    }

    static func problem(_ status: Status, _ sentence: String, headers: [String] = []) -> [UInt8] {
        let document: JSONObject = ["error": .text(sentence)]
        return bytes(status, type: "application/json", headers: headers, body: Array(document.line.utf8))
    }

    static func bytes(
        _ status: Status, type: String, headers: [String] = [], body: [UInt8], policy: String = policy,
        referrer: String = "no-referrer"
    ) -> [UInt8] {
        head(
            status, type: type, headers: headers + ["Content-Length: \(body.count)"], policy: policy, referrer: referrer
        )
            + body
    }

    /// Returns the head of an answer, with its empty line. Without a length the answer ends with the connection.
    static func head(
        _ status: Status, type: String, headers: [String] = [], policy: String = policy,
        referrer: String = "no-referrer"
    ) -> [UInt8] {
        let lines =
            ["HTTP/1.1 \(status.rawValue)", "Content-Type: \(type); charset=utf-8"] + headers + [
                "Content-Security-Policy: \(policy)", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
                "Referrer-Policy: \(referrer)", "Cross-Origin-Opener-Policy: same-origin",
                "Cross-Origin-Resource-Policy: same-origin", "Cache-Control: no-store", "Connection: close", "", "",
            ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }
}
