internal import CoreAPI

/// What the timeline tells about a transition, before it is known who tells it and when.
struct Story: Hashable, Sendable {
    var kind: TimelineEntry.Kind
    /// The participant's own ownership; nil for an acquisition, whose epoch is its own commit.
    var epoch: Revision?
    /// The ownership of another that this is about.
    var other: Revision?
    var from: OwnerState?
    var to: OwnerState?
    /// For a take-over: what it took over from, and why.
    var previous: PreviousOwnership?
    /// A time that goes with it.
    var bound: Duration?
    /// One sentence for people.
    var reason: String
    /// When it happened, if that was before it is told.
    var at: BootInstant?
}
