#if Etcd
    package import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import SwiftProtobuf
    internal import Synchronization

    /// Put, get and watch as direct calls to etcd over the same library and the same connection: the baseline for the
    /// backend's own calls.
    package final class BareCalls: Sendable {
        private let cluster: Cluster
        private let root: Data

        /// Uses the connection that the process has to a cluster.
        ///
        /// - Parameter root: The prefix of all keys; nil for a random prefix that no other client has.
        package init(at place: EtcdCluster, below root: String? = nil) throws(SharedCoreError) {
            cluster = try Clusters.cluster(at: place)
            self.root = Data((root ?? "/sharedcore-bare/\(UInt64.random(in: 0...UInt64.max))/").utf8)
        }

        private final class Place: Sendable {
            let revision: Atomic<Int64>

            init(_ revision: Int64) {
                self.revision = Atomic(revision)
            }
        }

        private func key(_ name: String) -> Data { root + Data(name.utf8) }

        private static func range(_ start: Data) -> Range<KeyBound> {
            KeyBound(start)..<KeyBound(start.dropLast() + [0x30])
        }

        package func put(_ name: String, _ value: [UInt8]) async throws {
            let request = Etcdserverpb_TxnRequest.make(then: [.put(key(name), Data(value))])
            _ = try await cluster.transaction(request, timeout: .seconds(10), at: "measuring")
        }

        package func delete(_ name: String) async throws {
            _ = try await cluster.transaction(
                .make(then: [.delete(key(name))]), timeout: .seconds(10), at: "measuring")
        }

        package func get(_ name: String) async throws -> [UInt8]? {
            try await range(of: key(name)).kvs.first.map { [UInt8]($0.value) }
        }

        private func range(of key: Data) async throws -> Etcdserverpb_RangeResponse {
            try await cluster.call(timeout: .seconds(10), at: "measuring") { connection, options in
                try await Etcdserverpb_KV.Client(wrapping: connection).range(
                    request: ClientRequest(message: .with { $0.key = key }), options: options)
            }
        }

        /// Starts reporting every change, until the returned task is cancelled.
        package func watch(_ told: @escaping @Sendable () -> Void) async throws -> Task<Void, Never> {
            let range = Self.range(root)
            let next = Place(try await self.range(of: root).header.revision + 1)
            return Task { [cluster] in
                while !Task.isCancelled {
                    // The library may break a connection at any time.
                    try? await Etcdserverpb_Watch.Client(wrapping: cluster.member.connection).watch(
                        request: StreamingClientRequest { writer in
                            let start = next.revision.load(ordering: .relaxed)
                            try await writer.write(
                                .with {
                                    $0.createRequest = .with {
                                        $0.key = range.lowerBound.bytes
                                        $0.rangeEnd = range.upperBound.bytes
                                        $0.startRevision = start
                                    }
                                })
                            // The stream of requests must stay open as long as the watch.
                            try await Task.sleep(for: .seconds(86_400))
                        }, options: Cluster.options(timeout: nil)
                    ) { response in
                        for try await message in response.messages {
                            for event in message.events {
                                next.revision.store(event.kv.modRevision + 1, ordering: .relaxed)
                                told()
                            }
                        }
                    }
                }
            }
        }

        /// Frees the space of a server that has used it up, after values were removed: drops the old revisions, gives
        /// their pages back, and disarms the alarm `NOSPACE` of the member that answers.
        ///
        /// Source: etcd's operations guide, "Space quota".
        package func reclaimSpace() async throws {
            let header = try await range(of: root).header
            _ = try await cluster.call(timeout: .seconds(10), at: "compact") { connection, options in
                try await Etcdserverpb_KV.Client(wrapping: connection).compact(
                    request: ClientRequest(
                        message: .with {
                            $0.revision = header.revision
                            $0.physical = true
                        }), options: options)
            }
            try await maintain("Defragment", [])
            var request: [UInt8] = [0x08, 2, 0x18, 1, 0x10]  // DEACTIVATE, NOSPACE, the member's number
            var rest = header.memberID
            while rest > 0x7F {
                request.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            try await maintain("Alarm", request + [UInt8(rest)])
        }

        /// Calls etcd's service for maintenance, of which the backend itself uses nothing.
        private func maintain(_ method: String, _ request: [UInt8]) async throws {
            try await cluster.call(timeout: .seconds(30), at: method) { connection, options in
                try await connection.unary(
                    request: ClientRequest(message: request),
                    descriptor: MethodDescriptor(fullyQualifiedService: "etcdserverpb.Maintenance", method: method),
                    serializer: PlainBytes(), deserializer: PlainBytes(), options: options
                ) { response in _ = try response.message }
            }
        }

        package func remove() async {
            _ = try? await cluster.transaction(
                .make(then: [.delete(Self.range(root))]), timeout: .seconds(10), at: "measuring")
        }
    }

    /// Messages that the caller encodes itself.
    private struct PlainBytes: MessageSerializer, MessageDeserializer {
        func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) -> Bytes { Bytes(message) }
        func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> [UInt8] { bytes.withUnsafeBytes(Array.init) }
    }
#endif
