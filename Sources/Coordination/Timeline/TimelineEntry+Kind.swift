extension TimelineEntry {
    /// What happened.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// A Main asked the owner (``TimelineEntry/other``) to hand over within ``TimelineEntry/bound``.
        case asked = 1
        /// The participant became the owner; nobody owned. ``TimelineEntry/previous`` says how that came.
        case acquired = 2
        /// The participant became the owner in place of ``TimelineEntry/previous``, and fenced it.
        case tookOver = 3
        /// The owner went from one state to another.
        case stateChanged = 4
        /// The owner let go.
        case released = 5
        /// The process of the owner (``TimelineEntry/other``) was killed, because it had not let go in time.
        case killed = 7
        /// The participant learned that it is an owner no more.
        case fenced = 8
        /// The participant was refused, because a Main owns (``TimelineEntry/other``) or is about to.
        case refused = 9
        /// The core began to run.
        case coreStarted = 10
        /// The core has stopped.
        case coreStopped = 11
        /// The core did not stop within its bound and was left to itself.
        case coreGivenUp = 12
        /// The witness saw another core run (``TimelineEntry/other``), which it should not have.
        case overlap = 13
        /// The witness saw a core run (``TimelineEntry/other``) that was fenced or given up.
        case supersededOverlap = 14
        /// The owner (``TimelineEntry/other``) was asked to show that it is alive.
        case challenged = 15
        /// Something that was set aside; the reason tells.
        case problem = 17
    }
}
