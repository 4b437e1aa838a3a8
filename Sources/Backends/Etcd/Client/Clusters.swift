#if Etcd
    internal import CoreAPI
    internal import Synchronization

    /// The clusters that this process is connected to: one connection for all who use the same.
    enum Clusters {
        private struct Weak {
            weak var cluster: Cluster?
        }

        private static let known = Mutex<[EtcdCluster: Weak]>([:])

        static func cluster(at place: EtcdCluster) throws(SharedCoreError) -> Cluster {
            try known.withLock { known throws(SharedCoreError) in
                if let cluster = known[place]?.cluster { return cluster }
                let cluster = try Cluster(place)
                known = known.filter { $0.value.cluster != nil }
                known[place] = Weak(cluster: cluster)
                return cluster
            }
        }
    }
#endif
