package import CoreAPI

/// A commit that changes what stands under ``OwnershipKey/path``, with what the timeline tells about it.
///
/// Its guards make it right whatever happened since the view that it was made from.
package struct Transition: Hashable, Sendable {
    /// The conditions and operations, without the timeline's.
    package var transaction: Transaction
    /// What the timeline tells, in the same commit; empty for what is no news.
    package var stories: [Story]

    /// Whether it makes the participant own.
    package var acquires: Bool { stories.contains { $0.kind == .acquired || $0.kind == .tookOver } }

    package init(transaction: Transaction, stories: [Story] = []) {
        self.transaction = transaction
        self.stories = stories
    }
}
