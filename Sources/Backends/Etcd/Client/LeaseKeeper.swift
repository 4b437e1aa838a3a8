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
            /// The pause between two turns.
            var pause: Task<Void, Never>?
            /// Whether a lease has come that the next pause does not know of.
            var isStale = false
        }

        /// However long the leases are: a member that does not answer is noticed in this time and the next.
        private static let longestPause = Duration.seconds(3)
        private static let longestWait = Duration.seconds(1)
        /// How many are kept alive by one call: a member that is not the leader asks it for one after the other.
        private static let callSize = 100

        private let content = Mutex(Content())

        func start(on cluster: Cluster) {
            let task = Task { [weak self, weak cluster] in
                while !Task.isCancelled {
                    guard let pause = await self?.turn(through: cluster) else { return }
                    guard let waiting = self?.pause(for: pause) else { return }
                    await withTaskCancellationHandler {
                        await waiting.value
                    } onCancel: {
                        waiting.cancel()
                    }
                }
            }
            content.withLock { $0.task = task }
        }

        /// A pause, which the next new lease ends.
        private func pause(for duration: Duration) -> Task<Void, Never> {
            let pause = Task<Void, Never> { try? await Task.sleep(for: duration) }
            let isStale = content.withLock { content -> Bool in
                content.pause = pause
                defer { content.isStale = false }
                return content.isStale
            }
            if isStale { pause.cancel() }
            return pause
        }

        /// Keeps all alive once: three times within each lease, and at once with the next member when this one does not answer.
        private func turn(through cluster: Cluster?) async -> Duration? {
            guard let cluster else { return nil }
            let leases = content.withLock { content in
                content.isStale = false
                return content.leases
            }
            let third = min((leases.values.min() ?? .seconds(3)) / 3, Self.longestPause)
            let all = Array(leases.keys)
            for start in stride(from: 0, to: all.count, by: Self.callSize) {
                let some = Array(all[start..<min(start + Self.callSize, all.count)])
                guard await keepAlive(some, through: cluster, within: min(third, Self.longestWait)) else {
                    return .milliseconds(50)
                }
            }
            return third
        }

        func end() {
            content.withLock { $0.task }?.cancel()
        }

        func add(_ lease: Int64, lasting duration: Duration) {
            let pause = content.withLock { content -> Task<Void, Never>? in
                content.leases[lease] = duration
                content.isStale = true
                return content.pause
            }
            pause?.cancel()
        }

        func remove(_ lease: Int64) {
            content.withLock { _ = $0.leases.removeValue(forKey: lease) }
        }

        private func keepAlive(
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
                        for try await answer in response.messages {
                            answers += 1
                            // It is over, and nothing keeps it alive any more.
                            if answer.ttl <= 0 { self.remove(answer.id) }
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
