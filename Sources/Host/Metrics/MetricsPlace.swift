/// Where the host tells its figures.
enum MetricsPlace: Hashable, Sendable {
    /// A port of 127.0.0.1.
    case port(UInt16)
    /// The path of a socket.
    case path(String)

    static let expectation = "a port of 127.0.0.1 such as 9464, the path of a socket, with a “/”, or none"

    /// Nil when a text is neither; a path stays as it is written.
    init?(_ text: String) {
        let digits = text.hasPrefix("127.0.0.1:") ? text.dropFirst("127.0.0.1:".count) : text[...]
        if let port = UInt16(digits), port > 0 {
            self = .port(port)
        } else if text.contains("/"), !text.utf8.contains(0) {
            self = .path(text)
        } else {
            return nil
        }
    }
}
