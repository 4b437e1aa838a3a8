internal import CoreAPI

/// When a call for a message is interrupted.
enum Interruption: CaseIterable {
    /// It is about to watch what it waits for: whoever looks before that misses what happens now.
    case watching
    /// It has let others know that it waits, has looked once more, and does not know the answer yet: only its watch can
    /// tell it what happens now.
    case looked
}

extension TroubledGroup {
    /// A handle under which something happens once, when a call that waits under a prefix has come so far.
    static func interrupted(
        _ group: any SharedGroup, at moment: Interruption, under prefix: KeyPrefix,
        _ happens: @escaping @Sendable () async throws -> Void
    ) -> TroubledGroup {
        let interrupt: @Sendable () async throws(SharedCoreError) -> Void = { () throws(SharedCoreError) in
            do {
                try await happens()
            } catch {
                throw SharedCoreError(.unavailable, "What was to happen did not.", at: prefix.path, cause: "\(error)")
            }
        }
        let lookCount = Box(0)
        return TroubledGroup(
            group,
            watching: { group, prefixes, start throws(SharedCoreError) in
                if moment == .watching, prefixes == [prefix] { try await interrupt() }
                return try await group.watch(prefixes, from: start)
            },
            looked: { looked throws(SharedCoreError) in
                guard moment == .looked, looked == prefix else { return }
                let count = lookCount.update {
                    $0 += 1
                    return $0
                }
                if count == 2 { try await interrupt() }
            })
    }
}
