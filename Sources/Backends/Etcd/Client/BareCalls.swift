#if Etcd
    package import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import SwiftProtobuf
    internal import Synchronization

    /// The calls of etcd's that a put, a get and a watch would be without this backend, made by hand over the same library and
    /// the same connection: what the backend's own are measured beside.
    package final class BareCalls: Sendable {
        private let cluster: Cluster
        private let root: Data

        package init(at place: EtcdPlace) throws(SharedCoreError) {
            cluster = try Clusters.cluster(at: place)
            root = Data("/sharedcore-bare/\(UInt64.random(in: 0...UInt64.max))/".utf8)
        }

        private func key(_ name: String) -> Data { root + Data(name.utf8) }

        private static func range(_ start: Data) -> Range<KeyBound> {
            KeyBound(start)..<KeyBound(start.dropLast() + [0x30])
        }

        package func put(_ name: String, _ value: [UInt8]) async throws {
            let request = Etcdserverpb_TxnRequest.make(then: [.put(key(name), Data(value))])
            _ = try await Etcdserverpb_KV.Client(wrapping: cluster.member.connection).txn(
                request: ClientRequest(message: request), options: Cluster.options(timeout: .seconds(10)))
        }

        package func get(_ name: String) async throws -> [UInt8]? {
            let key = key(name)
            let answer = try await Etcdserverpb_KV.Client(wrapping: cluster.member.connection).range(
                request: ClientRequest(message: .with { $0.key = key }),
                options: Cluster.options(timeout: .seconds(10)))
            return answer.kvs.first.map { [UInt8]($0.value) }
        }

        /// Tells of every change, until the task is cancelled.
        package func watch(_ told: @escaping @Sendable () -> Void) async throws {
            let range = Self.range(root)
            try await Etcdserverpb_Watch.Client(wrapping: cluster.member.connection).watch(
                request: StreamingClientRequest { writer in
                    try await writer.write(
                        .with {
                            $0.createRequest = .with {
                                $0.key = range.lowerBound.bytes
                                $0.rangeEnd = range.upperBound.bytes
                            }
                        })
                    // The stream of requests stays open as long as the watch is to.
                    try await Task.sleep(for: .seconds(86_400))
                }, options: Cluster.options(timeout: nil)
            ) { response in
                for try await message in response.messages {
                    if message.created || !message.events.isEmpty { told() }
                }
            }
        }

        package func remove() async {
            _ = try? await cluster.transaction(
                .make(then: [.delete(Self.range(root))]), within: .seconds(10), at: "measuring")
        }
    }
#endif
