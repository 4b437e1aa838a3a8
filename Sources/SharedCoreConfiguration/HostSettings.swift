internal import Coordination

/// The consumer of the pushes of each type: `push.routes`, such as `call=main message=executor`.
package struct PushRoutes: Hashable, Sendable {
    package enum Route: String, Sendable {
        /// A Main takes it.
        case main
        /// The host starts an Executor for it.
        case executor
    }

    package static let expectation =
        "types with “=main” or “=executor” behind each and spaces between, such as “call=main”"

    private var routes: [String: Route] = [:]

    /// Creates routes in which Executors consume the pushes of every type.
    package init() {}

    /// Nil for a text of another form, and for one with a repeated type.
    package init?(_ text: String) {
        for word in text.split(whereSeparator: \.isWhitespace) {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, Push.isType(parts[0]), let route = Route(rawValue: String(parts[1])),
                routes.updateValue(route, forKey: String(parts[0])) == nil
            else { return nil }
        }
        guard !routes.isEmpty else { return nil }
    }

    /// The consumer of a type; Executors for a type that has no route.
    package subscript(type: String) -> Route { routes[type] ?? .executor }
}

extension SettingKind where Value == PushRoutes {
    package static let pushRoutes = SettingKind(
        name: "routes", expectation: PushRoutes.expectation, parse: { PushRoutes($0) })
}

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
