#if Etcd
    internal import CoreAPI
    internal import Platform
    internal import Synchronization

    /// The groups of a cluster that this process follows: participants of one group share its feed.
    final class FeedTable: Sendable {
        /// The properties that participants share to use one feed.
        private struct Place: Hashable {
            let keys: Keyspace
            let limits: Limits
            let historyByteCount: Int
            let requestTimeout: Duration
            let clock: ObjectIdentifier

            init(_ keys: Keyspace, _ settings: GroupFeed.Settings) {
                self.keys = keys
                limits = settings.limits
                historyByteCount = settings.historyByteCount
                requestTimeout = settings.requestTimeout
                let kind = type(of: settings.clock)
                // A clock that is a value equals any other of its type.
                clock =
                    kind is AnyObject.Type
                    ? ObjectIdentifier(settings.clock as AnyObject) : ObjectIdentifier(kind)
            }
        }

        private struct Row {
            let task: Task<Result<GroupFeed, SharedCoreError>, Never>
            /// Set when the task is done.
            var feed: GroupFeed?
            var userCount = 1
        }

        private let rows = Mutex<[Place: Row]>([:])

        /// Returns the feed of a group for another participant, which must call ``release(_:)``.
        func feed(
            of keys: Keyspace, on cluster: Cluster, settings: GroupFeed.Settings
        ) async throws(SharedCoreError) -> GroupFeed {
            let place = Place(keys, settings)
            // A failed feed is replaced by a new one.
            for _ in 0..<3 {
                let task = join(place) {
                    do throws(SharedCoreError) {
                        return .success(try await GroupFeed.open(keys, on: cluster, settings: settings))
                    } catch {
                        return .failure(error)
                    }
                }
                let result = await task.value
                let feed = rows.withLock { rows -> GroupFeed? in
                    if case .success(let feed) = result, !feed.hasFailed {
                        if rows[place]?.task == task { rows[place]?.feed = feed }
                        return feed
                    }
                    if rows[place]?.task == task { rows[place] = nil }
                    return nil
                }
                if let feed { return feed }
                _ = try result.get()
            }
            throw SharedCoreError(.unavailable, "The cluster's updates of the group cannot be read.", at: "open")
        }

        private func join(
            _ place: Place, orOpen open: @escaping @Sendable () async -> Result<GroupFeed, SharedCoreError>
        ) -> Task<Result<GroupFeed, SharedCoreError>, Never> {
            rows.withLock { rows in
                if let row = rows[place] {
                    rows[place]?.userCount += 1
                    return row.task
                }
                let task = Task { await open() }
                rows[place] = Row(task: task)
                return task
            }
        }

        /// Releases a feed; the last user ends it. A failed feed is no longer in the table.
        func release(_ feed: GroupFeed) {
            let place = Place(feed.keys, feed.settings)
            let isLast = rows.withLock { rows -> Bool in
                guard let row = rows[place], row.feed === feed else { return true }
                if row.userCount > 1, !EtcdDefect.endedFeed.isPresent {
                    rows[place]?.userCount -= 1
                    return false
                }
                rows[place] = nil
                return true
            }
            if isLast, !EtcdDefect.keptFeed.isPresent { feed.end() }
        }
    }
#endif
