internal import CoreAPI

/// A handle that forwards all calls, and injects a fault into watches or reads.
final class TroubledGroup: ForwardingGroup {
    typealias WatchBody = @Sendable (any SharedGroup, [KeyPrefix], WatchStart) async throws(SharedCoreError) -> Watch

    let group: any SharedGroup
    private let watching: WatchBody
    private let looked: @Sendable (KeyPrefix) async throws(SharedCoreError) -> Void

    /// Wraps a group.
    ///
    /// - Parameters:
    ///   - watching: The function that makes a watch.
    ///   - looked: Called after a read under a prefix, before its answer is known.
    init(
        _ group: any SharedGroup,
        watching: @escaping WatchBody = { group, prefixes, start throws(SharedCoreError) in
            try await group.watch(prefixes, from: start)
        },
        looked: @escaping @Sendable (KeyPrefix) async throws(SharedCoreError) -> Void = { _ in }
    ) {
        self.group = group
        self.watching = watching
        self.looked = looked
    }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await watching(group, prefixes, start)
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        let snapshot = try await group.list(prefix, consistency: consistency)
        try await looked(prefix)
        return snapshot
    }
}

extension TroubledGroup {
    /// Returns a handle with watches that deliver only the state at their beginning, and never an update.
    static func deaf(_ group: any SharedGroup) -> TroubledGroup {
        TroubledGroup(group) { group, prefixes, start throws(SharedCoreError) in
            let inner = try await group.watch(prefixes, from: start)
            let isFirst = Box(start == .snapshot)
            return Watch(
                next: { () async throws(SharedCoreError) -> WatchEvent? in
                    while let event = try await inner.next() {
                        if isFirst.update({ isFirst in
                            defer { isFirst = false }; return isFirst
                        }) {
                            return event
                        }
                    }
                    return nil
                },
                cancel: { inner.cancel() })
        }
    }
}

/// When a call for a message is interrupted.
enum InterruptionPoint: CaseIterable {
    /// The call is about to open its watch. A call that had read the inbox before opening its watch would miss a change
    /// that is made now.
    case watching
    /// The call has stored its expectation and has read the inbox again, but has not got the result yet. Only its watch
    /// can report a change that is made now.
    case looked
}

extension TroubledGroup {
    /// Returns a handle that runs an action once, when a call that waits under a prefix has reached a point.
    static func interrupted(
        _ group: any SharedGroup, at moment: InterruptionPoint, under prefix: KeyPrefix,
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
                if moment == .watching, prefixes.contains(prefix) { try await interrupt() }
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
