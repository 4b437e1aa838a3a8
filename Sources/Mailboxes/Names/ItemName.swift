package import CoreAPI
internal import Synchronization

/// The name of one message of a queue, as one part of a key: at most 256 bytes of printable ASCII without `/`.
///
/// Any text gives a name, and two texts give one name only when their bytes are equal.
public struct ItemName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The longest name, in bytes. The path of a queue and a name always fit into a key together.
    public static let maximumByteCount = 256

    /// The name as it stands in a key.
    public let text: String

    /// The name of a text that the caller chose, such as a call-id.
    public init(_ text: String) {
        self.text = PathPart.text(for: text, maximumByteCount: Self.maximumByteCount)
    }

    /// A name that was read from a key.
    package init(part: some StringProtocol) {
        self.text = String(part)
    }

    /// A name that no other message of the group has, later in order than all that this process made before for
    /// `session`.
    package static func numbered(by session: SessionID) -> ItemName {
        // One counter for the process, because several queues may have one path and one session.
        let number = counter.add(1, ordering: .relaxed).newValue
        return ItemName(part: "%n" + session.rawValue.hexadecimal + "-" + number.hexadecimal)
    }

    public var description: String { text }

    public static func < (left: ItemName, right: ItemName) -> Bool {
        left.text < right.text
    }

    private static let counter = Atomic<UInt64>(0)
}
