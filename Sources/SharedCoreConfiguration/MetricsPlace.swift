/// The address at which the host serves its metrics.
package enum MetricsPlace: Hashable, Sendable {
    /// A port of 127.0.0.1.
    case port(UInt16)
    /// The path of a socket.
    case path(String)

    package static let expectation = "a port of 127.0.0.1 such as 9464, the path of a socket, with a “/”, or none"

    /// Returns nil for a text that is neither a port nor a path. A path is kept as it was written.
    package init?(_ text: String) {
        let digits = text.hasPrefix("127.0.0.1:") ? text.dropFirst("127.0.0.1:".count) : text[...]
        if let port = UInt16(digits), port > 0 {
            self = .port(port)
        } else if text.utf8.contains(UInt8(ascii: "/")), !text.utf8.contains(0) {
            self = .path(text)
        } else {
            return nil
        }
    }
}
