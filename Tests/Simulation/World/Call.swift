internal import Coordination
internal import CoreAPI

/// One call that waits for a message.
struct Call {
    enum Phase {
        /// It insists on a core of its own, and waits for that.
        case owning
        case subscribing, looking
        case taking(Entry)
        case expecting
        case waiting
        /// It is over; the message is being shown.
        case showing(TakenMessage)
        case over
    }

    let member: Int
    let message: Int
    let insists: Bool
    /// When it was made.
    let since: UInt64
    var wait: MessageWait
    var phase = Phase.subscribing
    /// Whether its watch is open.
    var isSubscribed = false
    /// When the group heard that it waits.
    var expectedAt: UInt64?
    /// The last change that its watch has told of.
    var heard: UInt64 = 0
    /// Whether something changed that it has not looked at.
    var isRung = false
    var alarm: UInt64 = .max
    /// What it insists on, once it has that.
    var held: Revision?
    /// What stood of its core's problems and losses when it began.
    var problemBefore: Intentions.CoreProblem?
    var lossBefore: Revision?

    var isWaiting: Bool {
        switch phase {
        case .showing, .over: false
        default: true
        }
    }
}
