internal import CoreAPI

/// The part of the dictionary in which the coordination keeps its own keys.
enum ReservedPath {
    static let name = ".sharedcore"

    private static let prefix = KeyPrefix(stringLiteral: ".sharedcore")

    /// Whether a key belongs to the coordination.
    static func contains(_ key: Key) -> Bool {
        prefix.contains(key)
    }

    /// Whether somebody who names this prefix asks for the reserved keys.
    static func isAskedFor(by path: String) -> Bool {
        path == name || path.hasPrefix(name + "/")
    }

    /// Refuses a write there.
    static func refuse(_ key: Key) throws(CommandFailure) {
        guard contains(key) else { return }
        throw .usage("the key “\(key)” lies under “\(name)/”, where only the coordination writes.")
    }
}
