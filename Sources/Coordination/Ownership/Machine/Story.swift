internal import CoreAPI

/// What the timeline tells about a transition, before it is known who tells it and when.
struct Story: Hashable, Sendable {
    /// What happened.
    enum Kind: Hashable, Sendable {
        case handoverRequested, handoverWithdrawn
        case acquired, tookOver, stateChanged, released, killed
        case coreGivenUp
        case overlap, problem
    }

    var kind: Kind
    /// The ownership that it is about: nil for an acquisition, whose epoch is its own commit.
    var epoch: Revision?
    var from: OwnershipState?
    var to: OwnershipState?
    /// The ownership that ended by it.
    var previous: Revision?
    /// One sentence.
    var reason: String
}
