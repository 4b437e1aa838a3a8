#if Etcd
    internal import CoreAPI
    internal import Synchronization

    /// The groups of a cluster that this process follows: participants of one group share its feed.
    final class FeedTable: Sendable {
        private struct Place: Hashable {
            let keys: Keyspace
            let limits: Limits
            let historyByteCount: Int
        }

        private struct Row {
            let task: Task<Result<GroupFeed, SharedCoreError>, Never>
            var userCount = 1
        }

        private let rows = Mutex<[Place: Row]>([:])

        /// The feed of a group, for one participant more. It is given back with ``release(_:)``.
        func feed(
            of keys: Keyspace, on cluster: Cluster, settings: GroupFeed.Settings
        ) async throws(SharedCoreError) -> GroupFeed {
            let place = Place(keys: keys, limits: settings.limits, historyByteCount: settings.historyByteCount)
            let task = rows.withLock { rows -> Task<Result<GroupFeed, SharedCoreError>, Never> in
                if let row = rows[place] {
                    rows[place]?.userCount += 1
                    return row.task
                }
                let task = Task {
                    do throws(SharedCoreError) {
                        return Result<GroupFeed, SharedCoreError>.success(
                            try await GroupFeed.open(keys, on: cluster, settings: settings))
                    } catch {
                        return .failure(error)
                    }
                }
                rows[place] = Row(task: task)
                return task
            }
            let result = await task.value
            if case .success(let feed) = result, !feed.hasFailed { return feed }
            // Whoever comes next tries anew.
            rows.withLock { rows in
                if rows[place]?.task == task { rows[place] = nil }
            }
            return try result.get()
        }

        /// Gives a feed back; the last one ends it.
        func release(_ feed: GroupFeed) {
            let place = Place(
                keys: feed.keys, limits: feed.settings.limits, historyByteCount: feed.settings.historyByteCount)
            let isLast = rows.withLock { rows -> Bool in
                guard let row = rows[place] else { return true }
                if row.userCount > 1 {
                    rows[place]?.userCount -= 1
                    return false
                }
                rows[place] = nil
                return true
            }
            if isLast { feed.end() }
        }
    }
#endif
