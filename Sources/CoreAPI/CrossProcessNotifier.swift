/// Wakes observers in all processes of a group by name.
///
/// A notification carries no payload but a 64-bit state word. Every commit to the group before a post is readable by
/// the observers that the post wakes.
///
/// Source: contract N.
public protocol CrossProcessNotifier: Sendable {
    /// Counts one more post of `name` and wakes its observers, if there are any.
    ///
    /// - Parameters:
    ///   - name: The name to post.
    ///   - state: The new state word; nil leaves it as it is.
    /// - Returns: The commit of the post.
    @discardableResult
    func post(_ name: NotificationName, state: UInt64?) async throws(SharedCoreError) -> Revision

    /// Begins to deliver the posts of `name`. Each post that begins after this call has returned is delivered.
    func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation

    /// Returns the state under `name` now.
    func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState
}

extension CrossProcessNotifier {
    /// Counts one more post of `name` and wakes its observers. The state word stays as it is.
    @discardableResult
    public func post(_ name: NotificationName) async throws(SharedCoreError) -> Revision {
        try await post(name, state: nil)
    }
}

extension CrossProcessNotifier where Self: SharedStore {
    /// Posts `name` in a commit of its own.
    @discardableResult
    public func post(_ name: NotificationName, state: UInt64?) async throws(SharedCoreError) -> Revision {
        try await commit(Transaction(operations: [.post(name, state: state)])).revision
    }
}

/// The name of a notification: 1 to 512 bytes of UTF-8, compared by its bytes.
///
/// Source: contract N1, N4.
public struct NotificationName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name as text.
    public let text: String

    /// Makes a name.
    ///
    /// `NotificationName("a")` is a literal and calls ``init(stringLiteral:)``; `try NotificationName.init("a")` calls this
    /// one, as ``Key/init(_:)`` explains.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when `text` is empty or longer than 512 bytes.
    public init(_ text: String) throws(SharedCoreError) {
        self.text = try ValidatedName.contiguous(text, of: "notification name")
    }

    public var description: String { text }

    public static func == (left: NotificationName, right: NotificationName) -> Bool {
        UTF8Bytes.equal(left.text, right.text)
    }

    public static func < (left: NotificationName, right: NotificationName) -> Bool {
        UTF8Bytes.precedes(left.text, right.text)
    }

    public func hash(into hasher: inout Hasher) {
        UTF8Bytes.hash(text, into: &hasher)
    }
}

extension NotificationName: ExpressibleByStringLiteral {
    /// Makes a name written in the source, as `"a"` or `NotificationName("a")`. It stops the program when it breaks the
    /// rules, as any wrong literal does; `try NotificationName.init("a")` throws instead.
    public init(stringLiteral value: StaticString) {
        self.text = ValidatedName.literal(value, as: "NotificationName") { text throws(SharedCoreError) in
            try NotificationName(text).text
        }
    }
}

/// The state under a notification's name, readable without an event.
///
/// Source: contract N5.
public struct NotificationState: Hashable, Sendable {
    /// The state word of the last post that gave one; 0 at first.
    public let state: UInt64
    /// The number of times that the name was posted since the group exists. It begins above zero if the group has
    /// removed the counts of other names before the first post (S10), and never falls while the name is kept.
    public let count: UInt64
    /// The commit of the last post; ``Revision/zero`` if there was none.
    public let revision: Revision
    /// The session that made the last post; nil if there was none.
    public let origin: SessionID?

    public init(state: UInt64, count: UInt64, revision: Revision, origin: SessionID?) {
        self.state = state
        self.count = count
        self.revision = revision
        self.origin = origin
    }

    /// A name that was never posted.
    public static let never = NotificationState(state: 0, count: 0, revision: .zero, origin: nil)
}
