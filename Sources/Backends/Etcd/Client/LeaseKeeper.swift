#if Etcd
    internal import CoreAPI
    internal import GRPCCore
    internal import Platform
    internal import SwiftProtobuf
    internal import Synchronization

    /// Keeps the leases of all sessions of a process alive, and so finds out that a member does not answer.
    final class LeaseKeeper: Sendable {
        private struct Lease {
            let confirmation: LeaseConfirmation
            /// What proves whose it is.
            let socket: SessionSocket?
        }

        private struct Content {
            var leases: [Int64: Lease] = [:]
            var task: Task<Void, Never>?
            /// The pause between two turns, and the time in which the next one is to have come.
            var pause: Task<Void, Never>?
            var turnTime = Duration.zero

            /// Six turns come within the shortest lease: its participant may be in doubt of it after two thirds of one.
            var nextTurnTime: Duration {
                let shortest = leases.values.lazy.map(\.confirmation.duration).min()
                return min((shortest ?? LeaseKeeper.longestPause) / 6, LeaseKeeper.longestPause)
            }
        }

        /// However long the leases are: a member that does not answer is noticed in this time and the next.
        private static let longestPause = Duration.seconds(3)
        private static let longestWait = Duration.seconds(1)
        private static let shortestPause = Duration.milliseconds(50)
        /// How many are kept alive by one call: a member that is not the leader asks it for one after the other.
        private static let callSize = 100

        private let content = Mutex(Content())

        func start(on cluster: Cluster) {
            let task = Task { [weak self, weak cluster] in
                while !Task.isCancelled {
                    let began = ContinuousClock.now
                    guard let isDone = await self?.turn(through: cluster) else { return }
                    guard let waiting = self?.pause(since: isDone ? began : nil) else { return }
                    await withTaskCancellationHandler {
                        await waiting.value
                    } onCancel: {
                        waiting.cancel()
                    }
                }
            }
            content.withLock { $0.task = task }
        }

        /// A pause, which a new lease ends that is shorter than all others.
        ///
        /// - Parameter turn: When the last turn began; nil when it has failed, so that the next one comes soon.
        private func pause(since turn: ContinuousClock.Instant?) -> Task<Void, Never> {
            content.withLock { content in
                content.turnTime = content.nextTurnTime
                // A turn that takes long is a part of the time.
                let left = turn.map { content.turnTime - $0.duration(to: .now) } ?? .zero
                let pause = Task<Void, Never> { try? await Task.sleep(for: max(left, Self.shortestPause)) }
                content.pause = pause
                return pause
            }
        }

        /// Keeps all alive once.
        ///
        /// - Returns: Whether the member has answered; the next one is asked when it has not. Nil when the cluster is gone.
        private func turn(through cluster: Cluster?) async -> Bool? {
            guard let cluster else { return nil }
            let (kept, time) = content.withLock { ($0.leases, $0.nextTurnTime) }
            let leases = Array(kept.keys)
            let wait = min(time, Self.longestWait)
            for start in stride(from: 0, to: leases.count, by: Self.callSize) {
                let some = Array(leases[start..<min(start + Self.callSize, leases.count)])
                guard await keepAlive(some, through: cluster, timeout: wait) else { return false }
            }
            for lease in kept.values { lease.socket?.drain() }
            return true
        }

        func end() {
            content.withLock { $0.task }?.cancel()
        }

        /// - Parameters:
        ///   - confirmation: What is told when the lease was renewed.
        ///   - socket: The socket that proves whose the lease is, which is drained with each turn.
        func add(_ lease: Int64, _ confirmation: LeaseConfirmation, socket: SessionSocket?) {
            let pause = content.withLock { content -> Task<Void, Never>? in
                content.leases[lease] = Lease(confirmation: confirmation, socket: socket)
                // All are kept alive with each turn, so one that is no shorter waits for the next.
                let isShorter = content.nextTurnTime < content.turnTime
                return isShorter || EtcdDefect.eagerRenewal.isPresent ? content.pause : nil
            }
            pause?.cancel()
        }

        func remove(_ lease: Int64) {
            content.withLock { _ = $0.leases.removeValue(forKey: lease) }
        }

        private func confirm(_ lease: Int64, at began: BootInstant) {
            content.withLock { $0.leases[lease]?.confirmation }?.confirm(at: began)
        }

        private func keepAlive(
            _ leases: [Int64], through cluster: Cluster, timeout: Duration
        ) async -> Bool {
            do throws(EtcdFailure) {
                let began = SystemClock().now()
                if EtcdDefect.unansweredRenewal.isPresent { for lease in leases { confirm(lease, at: began) } }
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
                            if answer.ttl <= 0 { self.remove(answer.id) } else { self.confirm(answer.id, at: began) }
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

    /// Until when a lease is known to stand: the cluster had it when the latest call that renewed it began, or later.
    ///
    /// Source: contract L5.
    final class LeaseConfirmation: Sendable {
        let duration: Duration
        private let confirmedAt: Mutex<BootInstant>

        init(_ duration: Duration, at began: BootInstant) {
            self.duration = duration
            confirmedAt = Mutex(began)
        }

        func confirm(at began: BootInstant) {
            confirmedAt.withLock { $0 = max($0, began) }
        }

        var lease: SessionLease { SessionLease(duration: duration, confirmedAt: confirmedAt.withLock { $0 }) }
    }
#endif
