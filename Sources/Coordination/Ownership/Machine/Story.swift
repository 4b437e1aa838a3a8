package import CoreAPI

/// What the timeline tells about a transition, before it is known who tells it and when.
package struct Story: Hashable, Sendable {
    package var kind: TimelineEntry.Kind
    /// The participant's own ownership; nil for an acquisition, whose epoch is its own commit.
    package var epoch: Revision?
    /// The ownership of another that this is about.
    package var other: Revision?
    package var from: OwnerState?
    package var to: OwnerState?
    /// For a take-over: what it took over from, and why.
    package var previous: PreviousOwnership?
    /// A time that goes with it.
    package var bound: Duration?
    /// One sentence for people.
    package var reason: String
    /// When it happened, if that was before it is told.
    package var at: BootInstant?

    package init(
        kind: TimelineEntry.Kind, epoch: Revision? = nil, other: Revision? = nil, from: OwnerState? = nil,
        to: OwnerState? = nil, previous: PreviousOwnership? = nil, bound: Duration? = nil, reason: String,
        at: BootInstant? = nil
    ) {
        self.kind = kind
        self.epoch = epoch
        self.other = other
        self.from = from
        self.to = to
        self.previous = previous
        self.bound = bound
        self.reason = reason
        self.at = at
    }
}
