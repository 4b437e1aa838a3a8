package import CoreAPI

/// What stands in the store about one message of a queue.
package struct QueueItem: Hashable, Sendable {
    /// The message, until it is acknowledged, dropped or expired.
    package var message: Entry?
    /// Who has it in hand.
    package var take: Entry?
    /// That it was acknowledged.
    package var mark: Entry?

    package init(message: Entry? = nil, take: Entry? = nil, mark: Entry? = nil) {
        self.message = message
        self.take = take
        self.mark = mark
    }

    package subscript(part: QueueKeys.Part) -> Entry? {
        get {
            switch part {
            case .message: message
            case .take: take
            case .mark: mark
            }
        }
        set {
            switch part {
            case .message: message = newValue
            case .take: take = newValue
            case .mark: mark = newValue
            }
        }
    }

    package var isEmpty: Bool { message == nil && take == nil && mark == nil }
}
