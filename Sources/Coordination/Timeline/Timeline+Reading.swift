public import CoreAPI

extension Timeline {
    /// The entries as they stand now.
    public func history() async throws(SharedCoreError) -> TimelineHistory {
        TimelineHistory(try await store.list(Self.prefix))
    }

    /// Begins to deliver entries: first those that stand, then each new one.
    public func follow() async throws(SharedCoreError) -> TimelineFollower {
        TimelineFollower(try await store.watch([Self.prefix], from: .snapshot))
    }
}
