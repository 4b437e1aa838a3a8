#if Etcd
    internal import CoreAPI
    internal import GRPCCore
    internal import SwiftProtobuf
    internal import Synchronization

    /// Keeps the leases of all sessions of a process alive, and so finds out that a member does not answer.
    final class LeaseKeeper: Sendable {
        private struct Content {
            /// How long each lasts.
            var leases: [Int64: Duration] = [:]
            var task: Task<Void, Never>?
        }

        private let content = Mutex(Content())

        func start(on cluster: Cluster) {
            let task = Task { [weak self, weak cluster] in
                while !Task.isCancelled {
                    guard let pause = await self?.turn(through: cluster) else { return }
                    try? await Task.sleep(for: pause)
                }
            }
            content.withLock { $0.task = task }
        }

        /// Keeps all alive once: three times within each lease, and at once with the next member when this one does not answer.
        private func turn(through cluster: Cluster?) async -> Duration? {
            guard let cluster else { return nil }
            let leases = content.withLock { $0.leases }
            let third = (leases.values.min() ?? .seconds(3)) / 3
            if leases.isEmpty { return third }
            return await Self.keepAlive(Array(leases.keys), through: cluster, within: third) ? third : .milliseconds(50)
        }

        func end() {
            content.withLock { $0.task?.cancel() }
        }

        func add(_ lease: Int64, lasting duration: Duration) {
            content.withLock { $0.leases[lease] = duration }
        }

        func remove(_ lease: Int64) {
            content.withLock { _ = $0.leases.removeValue(forKey: lease) }
        }

        private static func keepAlive(
            _ leases: [Int64], through cluster: Cluster, within timeout: Duration
        ) async -> Bool {
            do throws(EtcdFailure) {
                try await cluster.attempt(timeout: timeout) { connection, options in
                    try await Etcdserverpb_Lease.Client(wrapping: connection).leaseKeepAlive(
                        request: StreamingClientRequest { writer in
                            for lease in leases { try await writer.write(.with { $0.id = lease }) }
                        }, options: options
                    ) { response in
                        var answers = 0
                        for try await _ in response.messages {
                            answers += 1
                            if answers == leases.count { break }
                        }
                    }
                }
                return true
            } catch {
                return false
            }
        }
    }
#endif
