public import CoreAPI
package import Mailboxes

/// What the inbox has for a call-id.
public enum InboxState: Hashable, Sendable {
    /// Nothing yet: worth waiting for.
    case absent
    /// The message, to be taken by whoever asks first.
    case stored(InboxMessage)
    /// The message is in the hand of a participant that has not acknowledged it: worth waiting for.
    case taken(by: SessionID)
    /// It was acknowledged, so nobody need show it again.
    case acknowledged
    /// It was received and has nothing to show.
    case nothingToShow

    /// Whether a wait for the call-id is over.
    public var endsWait: Bool {
        switch self {
        case .absent, .taken: false
        case .stored, .acknowledged, .nothingToShow: true
        }
    }

    /// What the entries of one item mean.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt`` or ``SharedCoreError/Code/incompatible`` for bytes that are no record
    ///   of this version.
    package init(of item: QueueItem, callID: CallID) throws(SharedCoreError) {
        if let entry = item.message {
            let message = try InboxRecord(decoding: entry, for: callID).message
            self = item.take.map { .taken(by: $0.origin) } ?? .stored(message)
        } else if let entry = item.mark {
            switch try InboxMark(decoding: entry, for: callID).reason {
            case .acknowledged: self = .acknowledged
            case .nothingToShow: self = .nothingToShow
            }
        } else {
            self = .absent
        }
    }
}
