#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import Platform
    internal import StoreEngine
    internal import SwiftProtobuf
    internal import Synchronization

    /// A participant's session in a group: a key that lives with a lease.
    final class LeasedSession: Sendable {
        let id: SessionID
        let lease: Int64
        /// The lease's latest confirmation.
        let confirmation: LeaseConfirmation
        /// The calls that a close ends at once.
        let reads = PendingCalls()
        /// The commits, so that a close can cancel them and let each learn its outcome.
        let commits = PendingCalls()
        private let record: SessionRecord
        private let socket: SessionSocket?
        private let content: Mutex<Content>

        private struct Content {
            /// The revision of the last write of the session's key. Every request compares this revision. So another
            /// write of the key makes all requests fail that have not arrived yet.
            var stamp: Int64
            var lastDelivery: UInt64 = 0
            /// The numbers of the requests with kept results, the oldest first.
            var numbers: [UInt64] = []
        }

        /// Each session takes a descriptor, and a process may have more sessions than the usual soft limit of 1,024.
        private static let descriptors: Void = SpareDescriptors.raiseLimit()

        /// Returns the name of the socket of the session that has a lease.
        static func socketName(ofLease lease: Int64) -> String {
            "etcd/" + String(UInt64(bitPattern: lease), radix: 16)
        }

        private init(
            id: SessionID, lease: Int64, _ confirmation: LeaseConfirmation, record: SessionRecord,
            socket: SessionSocket?
        ) {
            self.id = id
            self.lease = lease
            self.confirmation = confirmation
            self.record = record
            self.socket = socket
            content = Mutex(Content(stamp: Int64(clamping: id.rawValue)))
        }

        /// The revision of the last write of the session's key.
        var stamp: Int64 {
            get { content.withLock { $0.stamp } }
            set { content.withLock { $0.stamp = max($0.stamp, newValue) } }
        }

        func nextDelivery() -> UInt64 {
            content.withLock { content in
                content.lastDelivery += 1
                return content.lastDelivery
            }
        }

        /// Records that the result of a numbered request is kept.
        func keep(_ number: UInt64) {
            content.withLock { content in
                guard !content.numbers.contains(number) else { return }
                content.numbers.append(number)
                if content.numbers.count > SessionState.keptResultCount { content.numbers.removeFirst() }
            }
        }

        /// The oldest number that is still kept when another result is added; nil if all are.
        var oldestKept: UInt64? {
            content.withLock { content in
                content.numbers.count < SessionState.keptResultCount
                    ? nil : content.numbers[content.numbers.count - SessionState.keptResultCount + 1]
            }
        }

        // MARK: - Joining and leaving

        static func take(
            in feed: GroupFeed, as description: SessionDescription, lease duration: Duration
        ) async throws(SharedCoreError) -> LeasedSession {
            let cluster = feed.cluster
            let timeout = feed.settings.requestTimeout
            let seconds = max(1, Int64(duration.components.seconds))
            let began = SystemClock().now()
            let grant = try await cluster.call(timeout: timeout, at: "open") { connection, options in
                try await Etcdserverpb_Lease.Client(wrapping: connection).leaseGrant(
                    request: ClientRequest(message: .with { $0.ttl = seconds }), options: options)
            }
            guard grant.error.isEmpty, grant.id != 0 else {
                throw SharedCoreError(.unavailable, "The cluster grants no lease.", at: "open", cause: grant.error)
            }
            let confirmation = LeaseConfirmation(.seconds(max(1, grant.ttl)), at: began)
            _ = Self.descriptors
            let socket = SessionSocket(named: Self.socketName(ofLease: grant.id))
            // Renew the lease from the start, because opening the session may take longer than the lease if several
            // members fail in turn.
            if !EtcdDefect.lateRenewal.isPresent { cluster.leases.add(grant.id, confirmation, socket: socket) }
            do throws(SharedCoreError) {
                let record = SessionRecord(description, clock: feed.clock)
                let revision = try await feed.enter(record, lease: grant.id)
                if EtcdDefect.lateRenewal.isPresent { cluster.leases.add(grant.id, confirmation, socket: socket) }
                return LeasedSession(
                    id: SessionID(rawValue: UInt64(clamping: revision)), lease: grant.id, confirmation, record: record,
                    socket: socket)
            } catch {
                cluster.leases.remove(grant.id)
                await Self.revoke(grant.id, on: cluster)
                throw error
            }
        }

        /// Writes the session's key again: requests that were sent before and have not arrived will have no effect.
        ///
        /// - Returns: The key's revision; nil if the session is over.
        func fence(in feed: GroupFeed, timeout: Duration) async throws(SharedCoreError) -> Int64? {
            let key = feed.keys.session(lease)
            let request = Etcdserverpb_TxnRequest.make(
                if: [.created(key, at: Int64(clamping: id.rawValue))], then: [.put(key, record.bytes, lease: lease)])
            let answer = try await feed.cluster.transaction(request, timeout: timeout, at: "commit")
            guard answer.succeeded else { return nil }
            stamp = answer.header.revision
            return answer.header.revision
        }

        /// Ends the session.
        ///
        /// - Returns: Whether it is over. Otherwise the lease expires.
        @discardableResult
        func leave(_ feed: GroupFeed, releasing: Bool = true) async -> Bool {
            feed.cluster.leases.remove(lease)
            let isOver = await Self.revoke(lease, on: feed.cluster)
            if releasing { feed.cluster.feeds.release(feed) }
            return isOver
        }

        /// Ends a lease; one that cannot be ended now expires.
        @discardableResult
        static func revoke(_ lease: Int64, on cluster: Cluster) async -> Bool {
            // A separate task, which is not cancelled with the caller. So the session is over when this returns, if the
            // cluster answers.
            await Task {
                do throws(EtcdFailure) {
                    _ = try await cluster.persist(timeout: .seconds(3)) { connection, options in
                        try await Etcdserverpb_Lease.Client(wrapping: connection).leaseRevoke(
                            request: ClientRequest(message: .with { $0.id = lease }), options: options)
                    }
                    return true
                } catch {
                    if case .leaseEnded = error { return true }
                    return false
                }
            }.value
        }
    }
#endif
