internal import Platform
internal import SharedCoreConfiguration

/// Serves the host's metrics to Prometheus: HTTP/1.1, GET only, one request for each connection.
enum MetricsServer {
    private static let maximumHeadByteCount = 8 << 10

    /// The time limit for a request. Prometheus sends its request right after it has connected.
    private static let timeout = Duration.seconds(2)

    /// Begins to listen. At a path, only this user is answered; at a port, every process of this machine.
    static func start(at place: MetricsPlace, _ registry: PrometheusRegistry) throws(SystemCallError) -> RequestServer {
        let listener =
            switch place {
            case .port(let port): try StreamListener(loopbackPort: port)
            case .path(let path): try StreamListener(path: path)
            }
        var user: UInt32?
        if case .path = place { user = FileStatus.currentUser }
        let rules = RequestServer.Rules(
            terminator: Array("\r\n\r\n".utf8), requestByteCount: maximumHeadByteCount, timeout: timeout,
            isPersistent: false, user: user,
            tooLong: response("431 Request Header Fields Too Large"), busy: response("503 Service Unavailable"))
        return try RequestServer.start("metrics", at: listener, rules: rules) { head in answer(head, registry) }
    }

    static func answer(_ head: [UInt8], _ registry: PrometheusRegistry) -> [UInt8] {
        let line = String(decoding: head.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return response("400 Bad Request") }
        guard words[0] == "GET" else { return response("405 Method Not Allowed", headers: ["Allow: GET"]) }
        let path = words[1].prefix { $0 != "?" }
        guard path == "/metrics" || path == "/" else { return response("404 Not Found") }
        return response(
            "200 OK", headers: ["Content-Type: text/plain; version=0.0.4; charset=utf-8"], body: registry.exposition)
    }

    private static func response(_ status: String, headers: [String] = [], body: String = "") -> [UInt8] {
        let lines =
            ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.utf8.count)", "Connection: close", "", ""]
        return Array((lines.joined(separator: "\r\n") + body).utf8)
    }
}
