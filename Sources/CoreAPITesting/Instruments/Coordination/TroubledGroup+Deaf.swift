internal import CoreAPI

extension TroubledGroup {
    /// A handle that no wake-up reaches: its watches give what stands when they begin, and never any news.
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
