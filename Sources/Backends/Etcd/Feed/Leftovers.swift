#if Etcd
    internal import CoreAPI
    internal import Platform
    internal import Synchronization

    /// The creation keys of removed entries, with the revision of each: the next opening of the group removes them.
    final class Leftovers: Sendable {
        private struct Content {
            var creations: ArraySlice<(key: Key, revision: Int64)>
            var task: Task<Void, Never>?
            var isEnded = false
        }

        /// The number of creation keys that one opening removes at most.
        private static let count = 256

        private let content: Mutex<Content>

        init(_ creations: [(key: Key, revision: Int64)]) {
            content = Mutex(Content(creations: creations.prefix(Self.count)))
        }

        /// Starts removing the creation keys, in one transaction that runs once. A key stays if its entry exists again,
        /// and all stay if the group has another layout by then. No call waits for the removal; an error is dropped,
        /// because the next participant that opens the group finds the keys that are left.
        func startRemoval(of keys: Keyspace, from cluster: Cluster, timeout: Duration) {
            content.withLock { content in
                guard !content.isEnded, !content.creations.isEmpty else { return }
                let request = Self.request(content.creations, in: keys)
                content.creations = []
                content.task = Task {
                    FailPoint.hit("leftovers.beforeRemoval")
                    _ = try? await cluster.transaction(request, timeout: timeout, at: "open")
                }
            }
        }

        private static func request(
            _ creations: ArraySlice<(key: Key, revision: Int64)>, in keys: Keyspace
        ) -> Etcdserverpb_TxnRequest {
            let removals = creations.map { key, revision in
                Etcdserverpb_RequestOp.transaction(
                    if: EtcdDefect.uncheckedLeftovers.isPresent
                        ? [] : [.absent(keys.entry(key)), .modified(keys.creation(key), at: revision)],
                    then: [.delete(keys.creation(key))])
            }
            return .make(
                if: EtcdDefect.unjudgedLeftovers.isPresent ? [] : [.value(keys.layout, is: Keyspace.layoutVersion)],
                then: Etcdserverpb_RequestOp.grouped(removals))
        }

        func end() {
            let task = content.withLock { content in
                content.isEnded = true
                return content.task
            }
            task?.cancel()
        }
    }
#endif
