internal import CoreAPI

/// What the store refuses a participant again and again.
struct Obstacle: Hashable, Sendable {
    /// What it said last.
    let error: SharedCoreError
    let since: BootInstant
    /// Whether commits are refused: then only one that succeeds shows that it is over.
    let isCommit: Bool
}
