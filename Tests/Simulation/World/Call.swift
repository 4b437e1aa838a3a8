internal import Coordination
internal import CoreAPI

/// A call that waits for a message.
struct Call {
    enum Phase {
        /// The call insists on a core of its own, and waits for it.
        case owning
        case subscribing, looking
        case taking(Entry)
        case expecting
        case waiting
        /// The message is being shown.
        case showing(TakenMessage)
        case over
    }

    let member: Int
    let message: Int
    let insists: Bool
    /// When the call was made.
    let since: UInt64
    var wait: MessageWait
    var phase = Phase.subscribing
    /// True while the call's watch is open.
    var isSubscribed = false
    /// When the group learned that the call waits.
    var expectedAt: UInt64?
    /// The last change that the call's watch has reported.
    var heard: UInt64 = 0
    /// True if there is a change that the call has not processed.
    var isRung = false
    var alarm: UInt64 = .max
    /// The epoch that the call insists on, once it has it.
    var held: Revision?
    /// The problem and the loss of the call's core at its start.
    var problemBefore: DemandPolicy.CoreProblem?
    var lossBefore: Revision?

    var isWaiting: Bool {
        switch phase {
        case .showing, .over: false
        default: true
        }
    }
}
