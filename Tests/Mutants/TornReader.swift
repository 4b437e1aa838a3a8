internal import CoreAPI
internal import InMemoryBackend

/// A reader that reads each entry of a list by itself, with others in between.
final class TornReader: ForwardingGroup {
    let group: any SharedGroup
    private let space: MemorySpace
    private static let mostAttempts = 1_000

    init(_ group: any SharedGroup, in space: MemorySpace) {
        self.group = group
        self.space = space
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        let whole = try await group.list(prefix, consistency: consistency)
        var entries: [Entry] = []
        for (index, entry) in whole.entries.enumerated() {
            var later = try await space.openToRead("group")
            // A commit comes in between where others commit, however busy the machine is.
            var attempts = index == 1 ? Self.mostAttempts : 0
            while attempts > 0, try await later.list("none").revision == whole.revision {
                attempts -= 1
                await Task.yield()
                later = try await space.openToRead("group")
            }
            if let entry = try await later.get(entry.key) { entries.append(entry) }
        }
        return Snapshot(revision: whole.revision, entries: entries)
    }
}
