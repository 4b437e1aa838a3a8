#if Etcd
    package import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import SwiftProtobuf

    extension EtcdGroup {
        /// Has the cluster forget what was before the present, as its operator does from time to time: for tests.
        package func compact() async throws(SharedCoreError) {
            let present = try await feed.catchUp()
            _ = try await feed.cluster.call(timeout: .seconds(10), at: "compact") { connection, options in
                try await Etcdserverpb_KV.Client(wrapping: connection).compact(
                    request: ClientRequest(
                        message: .with {
                            $0.revision = present.etcd
                            $0.physical = true
                        }), options: options)
            }
        }
    }
#endif
