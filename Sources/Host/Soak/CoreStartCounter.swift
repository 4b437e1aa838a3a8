internal import Coordination
internal import CoreAPI
internal import CoreAPITesting

/// Counts the core starts of a group as they happen, because the timeline is bounded and killed processes print
/// nothing.
final class CoreStartCounter: Sendable {
    private let follower: TimelineFollower
    private let seen: Box<(count: Int, revision: Revision)>

    init(following group: any SharedGroup) async throws {
        let follower = try await Timeline(group).follow()
        let seen = Box((count: 0, revision: Revision.zero))
        self.follower = follower
        self.seen = seen
        Task {
            // An error is ignored here, because the soak's own calls fail with the same error.
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

    /// Returns the count once the entry of a revision and all before it were counted.
    func count(through revision: Revision) async throws -> Int {
        try await eventually("the timeline is read to its end") { seen.value.revision >= revision }
        follower.cancel()
        return seen.value.count
    }
}
