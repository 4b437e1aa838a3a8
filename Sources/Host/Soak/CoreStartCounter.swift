internal import Coordination
internal import CoreAPI
internal import CoreAPITesting

/// Counts the core starts of a group while they happen: the timeline is bounded, and killed processes print nothing.
final class CoreStartCounter: Sendable {
    private let follower: TimelineFollower
    private let seen: Box<(count: Int, revision: Revision)>

    init(following group: any SharedGroup) async throws {
        let follower = try await Timeline(group).follow()
        let seen = Box((count: 0, revision: Revision.zero))
        self.follower = follower
        self.seen = seen
        Task {
            // The soak gets the error from its own calls when this ends with one.
            var events = follower.makeAsyncIterator()
            while let event = try? await events.next() {
                guard case .record(let record) = event else { continue }
                seen.update { seen in
                    if record.entry.kind == .coreStarted { seen.count += 1 }
                    seen.revision = record.revision
                }
            }
        }
    }

    /// The count when an entry and all before it have been seen.
    func count(through revision: Revision) async throws -> Int {
        try await eventually("the timeline is read to its end") { seen.value.revision >= revision }
        follower.cancel()
        return seen.value.count
    }
}
