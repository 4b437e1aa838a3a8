#if Etcd
    internal import CoreAPI
    internal import GRPCCore
    internal import Platform
    internal import SwiftProtobuf
    internal import Synchronization

    /// Keeps the leases of all sessions of a process alive, and thereby detects a member that does not answer.
    final class LeaseKeeper: Sendable {
        private struct Lease {
            let confirmation: LeaseConfirmation
            /// Proves to local processes which process has the lease.
            let socket: SessionSocket?
        }

        private struct Content {
            var leases: [Int64: Lease] = [:]
            var task: Task<Void, Never>?
            /// The pause between two turns. A turn renews all leases once.
            var pause: Task<Void, Never>?
            var turnTime = Duration.zero

            /// Six turns fit into the shortest lease, because a participant stops its core if its lease was not renewed
            /// for two thirds of the duration.
            var nextTurnTime: Duration {
                let shortest = leases.values.lazy.map(\.confirmation.duration).min()
                return min((shortest ?? LeaseKeeper.longestPause) / 6, LeaseKeeper.longestPause)
            }
        }

        /// The longest pause for any lease: a member that does not answer is noticed within two of them.
        private static let longestPause = Duration.seconds(3)
        private static let longestWait = Duration.seconds(1)
        private static let shortestPause = Duration.milliseconds(50)
        /// How many leases one call renews. A member that is not the leader forwards the renewals of a call to the
        /// leader one after another.
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

        /// Starts a pause. A new lease that is shorter than all others ends it early.
        ///
        /// - Parameter turn: When the last turn began; nil if it failed, so that the next one begins soon.
        private func pause(since turn: ContinuousClock.Instant?) -> Task<Void, Never> {
            content.withLock { content in
                content.turnTime = content.nextTurnTime
                // The duration of the turn counts as part of the pause.
                let left = turn.map { content.turnTime - $0.duration(to: .now) } ?? .zero
                let pause = Task<Void, Never> { try? await Task.sleep(for: max(left, Self.shortestPause)) }
                content.pause = pause
                return pause
            }
        }

        /// Renews all leases once.
        ///
        /// - Returns: Whether the member has answered; if not, the next member is used. Nil if the cluster was
        ///   released.
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

        /// Begins to renew a lease.
        ///
        /// - Parameters:
        ///   - confirmation: Receives the times at which the lease was renewed.
        ///   - socket: The socket that proves which process has the lease. It is drained with each turn.
        func add(_ lease: Int64, _ confirmation: LeaseConfirmation, socket: SessionSocket?) {
            let pause = content.withLock { content -> Task<Void, Never>? in
                content.leases[lease] = Lease(confirmation: confirmation, socket: socket)
                // Each turn renews all leases, so a lease that is not shorter waits for the next turn.
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
                            // The lease is over, and is renewed no more.
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

    /// When a lease was last confirmed. The time is that at which the latest successful renewal was sent, so the lease
    /// cannot end before a full duration from then.
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
