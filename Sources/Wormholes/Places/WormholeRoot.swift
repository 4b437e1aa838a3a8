internal import CoreAPI
internal import Mailboxes

/// Where everything of one wormhole stands in the store.
struct WormholeRoot: Hashable, Sendable {
    /// What stands under the root.
    enum Kind: String, Sendable {
        case latest, queue, requests, replies
    }

    private static let path = ".sharedcore/mailboxes/"
    /// The longest part that stands for a directory or a name, so that a queue's items fit below it.
    private static let directoryByteCount = 72
    private static let nameByteCount = 140

    let path: String

    /// - Parameter directory: Any text; nil for the directory that the group's wormholes share.
    init(directory: String?) {
        // No text gives a part with a `%` before an `m`.
        let part = directory.map { PathPart.text(for: $0, maximumByteCount: Self.directoryByteCount) } ?? "%main"
        path = Self.path + part
    }

    /// The path of what has a name.
    func path(of kind: Kind, _ name: String) -> String {
        path(of: kind) + PathPart.text(for: name, maximumByteCount: Self.nameByteCount)
    }

    /// The path under which all of a kind stand.
    func path(of kind: Kind) -> String {
        path + "/" + kind.rawValue + "/"
    }
}
