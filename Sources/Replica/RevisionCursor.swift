internal import CoreAPI
internal import StoreEngine

/// The position of one who only wants to know that the order has gone on.
struct RevisionCursor: ReplicaCursor {
    private var seen: Revision

    init(after revision: Revision) {
        seen = revision
    }

    mutating func takeNext(in state: inout StoreState) -> Revision? {
        guard state.revision > seen else { return nil }
        seen = state.revision
        return seen
    }
}
