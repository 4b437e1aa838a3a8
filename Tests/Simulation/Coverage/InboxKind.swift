internal import Coordination

/// What the inbox has of a message.
enum InboxKind: UInt8 {
    case absent, stored, taken, acknowledged, nothingToShow

    init(_ state: InboxState) {
        self =
            switch state {
            case .absent: .absent
            case .stored: .stored
            case .taken: .taken
            case .acknowledged: .acknowledged
            case .nothingToShow: .nothingToShow
            }
    }
}
