#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import Platform
    internal import StoreEngine
    internal import SwiftProtobuf
    internal import Synchronization

    /// A participant's session in a group: a key that lives with a lease.
    final class Seat: Sendable {
        let id: SessionID
        let lease: Int64
        /// The lease's latest confirmation.
        let confirmation: LeaseConfirmation
        /// The calls that a close ends at once.
        let reads = OpenCalls()
        /// The commits, which a close lets learn their outcome.
        let commits = OpenCalls()
        private let record: SessionRecord
        private let socket: SessionSocket?
        private let content: Mutex<Content>

        private struct Content {
            /// The revision of the last write of the session's key. Every request compares it, so that writing the key
            /// again fences the requests that are still on their way.
            var stamp: Int64
            var lastDelivery: UInt64 = 0
            /// The numbers of the requests with kept results, the oldest first.
            var numbers: [UInt64] = []
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
        ) async throws(SharedCoreError) -> Seat {
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
            let socket = SessionSocket(ofLease: grant.id)
            // The lease is kept alive from the start: several members in turn may fail to take the session.
            if !EtcdDefect.lateRenewal.isPresent { cluster.leases.add(grant.id, confirmation, socket: socket) }
            do throws(SharedCoreError) {
                let record = SessionRecord(description, clock: feed.clock)
                let revision = try await feed.enter(record, lease: grant.id)
                if EtcdDefect.lateRenewal.isPresent { cluster.leases.add(grant.id, confirmation, socket: socket) }
                return Seat(
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
            // Runs in a task of its own, which a cancelled caller does not cancel: the session is over when this
            // returns, if the cluster answers.
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

    extension GroupFeed {
        /// Opens a session, and creates the group if it does not exist.
        ///
        /// - Returns: The revision of the opening.
        fileprivate func enter(_ record: SessionRecord, lease: Int64) async throws(SharedCoreError) -> Int64 {
            let key = keys.session(lease)
            let head = HeadRecord(.opened, of: SessionID(rawValue: 0), at: Moment(now: clock))
            let steps: [Etcdserverpb_RequestOp] = [.put(key, record.bytes, lease: lease), .put(keys.head, head.bytes)]
            let layout = Keyspace.layoutVersion
            for _ in 0..<3 {
                let isKnown =
                    EtcdDefect.anyLayout.isPresent
                    ? Etcdserverpb_Compare.exists(keys.layout) : .value(keys.layout, is: layout)
                let request = Etcdserverpb_TxnRequest.make(
                    if: [isKnown, .absent(key)], then: steps,
                    else: [.get(keys.layout), .get(key)])
                let answer = try await cluster.transaction(request, timeout: settings.requestTimeout, at: "open")
                if answer.succeeded { return answer.header.revision }
                let found = FoundKeys(answer.responses)
                // An earlier try, without an answer, has succeeded.
                if let pair = found[key] { return pair.createRevision }
                if let pair = found[keys.layout] {
                    guard pair.value == layout else { throw .unknownLayout }
                    continue
                }
                let first = Etcdserverpb_TxnRequest.make(
                    if: [.absent(keys.layout)], then: [.put(keys.layout, layout)] + steps)
                let made = try await cluster.transaction(first, timeout: settings.requestTimeout, at: "open")
                if made.succeeded { return made.header.revision }
            }
            throw SharedCoreError(.unavailable, "The group could not be opened.", at: "etcd")
        }
    }

    extension SharedCoreError {
        /// The error of a group that another version has created.
        static var unknownLayout: SharedCoreError {
            SharedCoreError(
                .incompatible, "The group is kept in a layout that this version does not know.", at: "etcd")
        }
    }

    /// Proves to processes of this machine which process has a session: the process listens at a socket with an
    /// abstract name that contains the session's lease. The kernel tells the socket's process, even while that is
    /// stopped.
    ///
    /// It ends with the process. A full queue of connections leaves the process unproven, for example if others connect
    /// faster than ``drain()`` is called: every user of the machine may connect to an abstract name.
    final class SessionSocket: Sendable {
        /// The most connections in its queue.
        private static let queueLength = 64
        /// Each session takes a descriptor, and a process may have more sessions than the usual soft limit of 1,024.
        private static let descriptors: Void = OpenFile.raiseLimit()

        private let listener: StreamListener

        /// - Returns: Nil if the name is taken or the system has no socket left: then the process is not proven.
        init?(ofLease lease: Int64) {
            _ = Self.descriptors
            guard let listener = try? StreamListener(abstractName: Self.name(ofLease: lease)) else { return nil }
            self.listener = listener
        }

        /// Takes the connections out of the queue: the kernel has answered their question already.
        func drain() {
            for _ in 0...Self.queueLength {
                guard (try? listener.accept()) != nil else { return }
            }
        }

        /// Returns why a process may not be the one that has a lease; nil if it is.
        static func doubt(that process: Int32, hasLease lease: Int64) -> String? {
            do throws(SystemCallError) {
                return try StreamConnection(to: "@" + name(ofLease: lease)).peer?.process == process
                    ? nil : "another process has its session's socket"
            } catch {
                return "its session's socket does not answer (\(error.reason))"
            }
        }

        private static func name(ofLease lease: Int64) -> String {
            "sharedcore/etcd/" + String(UInt64(bitPattern: lease), radix: 16)
        }
    }
#endif
