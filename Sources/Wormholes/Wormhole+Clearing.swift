internal import CoreAPI

extension Wormhole {
    /// Clears every mailbox and queue of this wormhole, one after the other. Requests that wait for an answer stay, and
    /// so does everything of other wormholes and of the dictionary.
    ///
    /// - Returns: How many held something.
    @discardableResult
    public func clearAll() async throws(WormholeError) -> Int {
        try await inStore { () async throws(SharedCoreError) in
            var count = 0
            for path in try await paths(of: .latest) where try await clear(LatestPlace(path: path)) { count += 1 }
            for path in try await paths(of: .queue) where try await clear(QueuePlace(path: path)) { count += 1 }
            return count
        }
    }

    private func paths(of kind: WormholeRoot.Kind) async throws(SharedCoreError) -> [String] {
        let path = root.path(of: kind)
        var paths: [String] = []
        for entry in try await group.list(KeyPrefix(path)).entries {
            // Keys stand in their order, so those of one mailbox stand together.
            let part = entry.key.text.dropFirst(path.count).prefix { $0 != "/" }
            if paths.last != path + part { paths.append(path + part) }
        }
        return paths
    }
}
