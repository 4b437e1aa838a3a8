internal import Mailboxes

/// The root of all keys of one wormhole.
package struct WormholeRoot: Hashable, Sendable {
    /// The kinds of things under the root.
    package enum Kind: String, Sendable {
        case latest, queue, requests, replies
    }

    private static let path = ".sharedcore/mailboxes/"
    /// The longest part for a directory or a name, so that a queue's items fit below it.
    private static let directoryByteCount = 72
    private static let nameByteCount = 140

    package let path: String

    /// Makes the root of a directory's keys. Writes nothing.
    ///
    /// - Parameter directory: Any text; nil for the directory that the group's wormholes share.
    package init(directory: String?) {
        // `PathPart` never produces a part with a `%` before an `m`, so this part differs from that of every named
        // directory.
        let part = directory.map { PathPart.text(for: $0, maximumByteCount: Self.directoryByteCount) } ?? "%main"
        path = Self.path + part
    }

    /// Returns the path for a name.
    package func path(of kind: Kind, _ name: String) -> String {
        path(of: kind) + PathPart.text(for: name, maximumByteCount: Self.nameByteCount)
    }

    /// Returns the path of all mailboxes of a kind.
    package func path(of kind: Kind) -> String {
        path + "/" + kind.rawValue + "/"
    }
}
