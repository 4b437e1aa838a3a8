#if Etcd
    internal import CoreAPI
    internal import GRPCCore
    internal import Platform
    internal import Synchronization

    /// A process's connection to one cluster: one member at a time, one stream for all watches, one for all leases.
    final class Cluster: Sendable {
        let place: EtcdCluster
        private let chosen: Mutex<Member>
        private let parts = Mutex<(watches: WatchStream, leases: LeaseKeeper)?>(nil)

        /// The groups that this process follows.
        let feeds = FeedTable()

        /// The time that one try of a call waits for its answer, before the next member is asked.
        static let attemptTimeout = Duration.seconds(2)
        private static let pause = Duration.milliseconds(50)
        /// The largest message: a whole group may come in one.
        static let messageByteCount = 256 << 20

        init(_ place: EtcdCluster) throws(SharedCoreError) {
            self.place = place
            try place.security?.requireOwnKey()
            chosen = Mutex(try Member(at: 0, of: place))
        }

        deinit {
            parts.withLock {
                $0?.watches.end()
                $0?.leases.end()
            }
            chosen.withLock { $0.end() }
        }

        var member: Member { chosen.withLock { $0 } }

        /// The stream of all watches.
        var watches: WatchStream { running.watches }
        /// The keeper of all leases.
        var leases: LeaseKeeper { running.leases }

        private var running: (watches: WatchStream, leases: LeaseKeeper) {
            parts.withLock { parts in
                if let parts { return parts }
                let made = (WatchStream(), LeaseKeeper())
                made.0.start(on: self)
                made.1.start(on: self)
                parts = made
                return made
            }
        }

        /// Replaces a failing member by the next one.
        func leave(_ member: Member) {
            let left = chosen.withLock { chosen -> Bool in
                guard chosen === member, !EtcdDefect.onlyMember.isPresent,
                    let next = try? Member(at: (member.position + 1) % place.endpoints.count, of: place)
                else { return false }
                chosen = next
                return true
            }
            guard left else { return }
            parts.withLock { $0 }?.watches.restart()
            member.end()
        }

        static func options(timeout: Duration?) -> CallOptions {
            var options = CallOptions.defaults
            options.timeout = timeout
            options.waitForReady = false
            // The transport applies this limit to answers, too.
            options.maxRequestMessageBytes = messageByteCount
            options.maxResponseMessageBytes = messageByteCount
            return options
        }

        /// Tries a call once.
        func attempt<Answer: Sendable>(
            timeout: Duration = attemptTimeout,
            _ body: @Sendable (Member.Connection, CallOptions) async throws -> Answer
        ) async throws(EtcdFailure) -> Answer {
            let member = member
            do {
                return try await body(member.connection, Self.options(timeout: timeout))
            } catch {
                let failure = EtcdFailure(error, securityNote: member.securityNote.cause)
                if case .unclear = failure, !Task.isCancelled { leave(member) }
                throw failure
            }
        }

        /// Makes an idempotent call, repeatedly until it is answered.
        func call<Answer: Sendable>(
            timeout: Duration, at location: String,
            _ body: @Sendable (Member.Connection, CallOptions) async throws -> Answer
        ) async throws(SharedCoreError) -> Answer {
            do throws(EtcdFailure) {
                return try await persist(timeout: timeout, body)
            } catch {
                if Task.isCancelled { throw .cancelled(location) }
                throw error.harmless(at: location)
            }
        }

        /// Calls as ``call(timeout:at:_:)``, but throws the original failure.
        func persist<Answer: Sendable>(
            timeout: Duration, _ body: @Sendable (Member.Connection, CallOptions) async throws -> Answer
        ) async throws(EtcdFailure) -> Answer {
            let end = ContinuousClock.now.advanced(by: timeout)
            while true {
                do throws(EtcdFailure) {
                    return try await attempt(body)
                } catch {
                    guard case .unclear = error, !Task.isCancelled, ContinuousClock.now < end else { throw error }
                    try? await Task.sleep(for: Self.pause)
                }
            }
        }

        func transaction(
            _ request: Etcdserverpb_TxnRequest, timeout: Duration, at location: String
        ) async throws(SharedCoreError) -> Etcdserverpb_TxnResponse {
            try await call(timeout: timeout, at: location) { connection, options in
                try await Etcdserverpb_KV.Client(wrapping: connection).txn(
                    request: ClientRequest(message: request), options: options)
            }
        }
    }

    /// The clusters that this process is connected to: all users of the same cluster share one connection.
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
