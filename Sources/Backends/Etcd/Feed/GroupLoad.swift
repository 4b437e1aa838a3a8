#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import StoreEngine
    internal import SwiftProtobuf

    /// A group's content at one revision.
    struct GroupLoad {
        let state: StoreState
        let revision: Int64
        /// The version of its layout; nil if no participant has opened it.
        let layout: Data?
        let sessions: [Int64: SessionID]
        let madeAgain: [Key: Revision]
        let extras: [NotificationName: (value: UInt64, revision: Int64)]
        /// The creation keys of removed entries, with the revision of each.
        let leftovers: [(key: Key, revision: Int64)]

        private static let pageSize: Int64 = 256

        /// Reads a group.
        ///
        /// - Parameters:
        ///   - revision: The revision to read at; nil for the present one.
        ///   - former: The expiry times of entries that this process knows already.
        static func read(
            _ keys: Keyspace, from cluster: Cluster, at revision: Int64? = nil, clock: any TimeSource, limits: Limits,
            historyByteCount: Int, knowing former: [Key: (revision: Revision, expiry: BootInstant)] = [:],
            timeout: Duration
        ) async throws(EtcdFailure) -> GroupLoad {
            var pairs: [Mvccpb_KeyValue] = []
            var place = revision ?? 0
            var range = keys.whole
            while true {
                let start = range.lowerBound.bytes
                let at = place
                let page = try await cluster.persist(timeout: timeout) { connection, options in
                    try await Etcdserverpb_KV.Client(wrapping: connection).range(
                        request: ClientRequest(
                            message: .with {
                                $0.key = start
                                $0.rangeEnd = keys.whole.upperBound.bytes
                                $0.limit = pageSize
                                $0.revision = at
                            }), options: options)
                }
                if place == 0 { place = page.header.revision }
                pairs += page.kvs
                guard page.more, let last = page.kvs.last else { break }
                range = KeyBound(last.key + [0])..<keys.whole.upperBound
            }
            do throws(SharedCoreError) {
                return try GroupLoad(
                    pairs, of: keys, at: place, clock: clock, limits: limits, historyByteCount: historyByteCount,
                    knowing: former)
            } catch {
                throw .refused(error)
            }
        }

        private init(
            _ pairs: [Mvccpb_KeyValue], of keys: Keyspace, at revision: Int64, clock: any TimeSource, limits: Limits,
            historyByteCount: Int, knowing former: [Key: (revision: Revision, expiry: BootInstant)]
        ) throws(SharedCoreError) {
            var layout: Data?
            var sessions: [Int64: SessionID] = [:]
            var participants: [SessionState] = []
            var creations: [Key: Int64] = [:]
            var states: [NotificationName: UInt64] = [:]
            var extras: [NotificationName: (value: UInt64, revision: Int64)] = [:]
            var posts: [(name: NotificationName, pair: Mvccpb_KeyValue)] = []
            var rows: [(key: Key, pair: Mvccpb_KeyValue)] = []
            for pair in pairs {
                guard let (kind, name) = keys.split(pair.key) else { throw .unreadable("a key") }
                switch kind {
                case .session:
                    guard let lease = Keyspace.lease(ofSession: name) else { throw .unreadable("a session's key") }
                    let record = try SessionRecord(pair.value)
                    let id = SessionID(rawValue: UInt64(clamping: pair.createRevision))
                    sessions[lease] = id
                    participants.append(
                        SessionState(
                            session: record.session(id),
                            backendData: EtcdSessionMark(lease: lease, namespace: record.namespace).bytes))
                case .creation: creations[try Key(etcd: name)] = pair.modRevision
                case .entry: rows.append((try Key(etcd: name), pair))
                case .name: posts.append((try NotificationName(etcd: name), pair))
                case .state: states[try NotificationName(etcd: name)] = try PostRecord.number(pair.value)
                case .extra:
                    extras[try NotificationName(etcd: name)] = (try PostRecord.number(pair.value), pair.modRevision)
                case .layout: layout = pair.value
                case .head, .result: break
                }
            }
            var entries: [(key: Key, entry: StoredEntry)] = []
            var madeAgain: [Key: Revision] = [:]
            for (key, pair) in rows {
                let record = try EntryRecord(pair.value)
                var expiry: BootInstant?
                if case .expiring(let duration) = record.lifetime {
                    if let known = former[key], known.revision == Revision(etcd: pair.modRevision) {
                        expiry = known.expiry
                    } else {
                        expiry = (record.written?.local(to: clock) ?? clock.now()).advanced(by: duration)
                    }
                }
                let creation = max(pair.createRevision, creations[key] ?? 0)
                if creation > pair.createRevision { madeAgain[key] = Revision(etcd: creation) }
                entries.append(
                    (key, record.stored(revision: pair.modRevision, creation: creation, expiry: expiry)))
            }
            var topics: [(name: NotificationName, topic: TopicState)] = []
            for (name, pair) in posts {
                let count = UInt64(clamping: pair.version) &+ (extras[name]?.value ?? 0)
                topics.append(
                    (
                        name,
                        TopicState(
                            state: states[name] ?? 0, count: count, revision: Revision(etcd: pair.modRevision),
                            origin: try PostRecord(pair.value).origin)
                    ))
            }
            // The cluster keeps every name, so each process must know all of them.
            var reader = SnapshotReader(limits: limits, historyByteCount: historyByteCount, forgetsNames: false)
            // A cluster begins with revision 1, which is as empty as 0.
            try reader.read(.begin(revision == 1 ? .zero : Revision(etcd: revision)))
            try reader.read(.sessions(participants))
            try reader.read(.entries(entries))
            try reader.read(.topics(topics))
            try reader.read(.end)
            guard let state = reader.result else { throw .unreadable("a group") }
            self.state = state
            self.revision = revision
            self.layout = layout
            self.sessions = sessions
            self.madeAgain = madeAgain
            self.extras = extras
            let there = Set(rows.map(\.key))
            leftovers = creations.filter { !there.contains($0.key) }.map { (key: $0.key, revision: $0.value) }
        }
    }
#endif
