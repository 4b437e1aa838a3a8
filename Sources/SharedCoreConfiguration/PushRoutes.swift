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

    /// Returns nil for a text of another form, and for one with a repeated type.
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
