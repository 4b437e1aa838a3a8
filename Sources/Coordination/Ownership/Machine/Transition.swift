internal import CoreAPI

/// A commit that changes what stands under ``OwnershipKey/path``, with what the timeline tells about it.
///
/// Its guards make it right whatever happened since the view that it was made from.
struct Transition: Hashable, Sendable {
    /// The conditions and operations, without the timeline's.
    var transaction: Transaction
    /// What the timeline tells, in the same commit; empty for what is no news.
    var stories: [Story] = []
}
