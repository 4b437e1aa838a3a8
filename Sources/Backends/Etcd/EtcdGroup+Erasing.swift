#if Etcd
    package import CoreAPI

    extension EtcdGroup {
        /// Removes a group with everything that is in it: for tests, which make many.
        package static func erase(
            _ group: String, at place: EtcdCluster, prefix: String
        ) async throws(SharedCoreError) {
            let keys = try Keyspace(prefix: prefix, group: group)
            let cluster = try Clusters.cluster(at: place)
            _ = try await cluster.transaction(
                .make(then: [.delete(keys.whole)]), timeout: .seconds(10), at: "erase")
        }
    }
#endif
