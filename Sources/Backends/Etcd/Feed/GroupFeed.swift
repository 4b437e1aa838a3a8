#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import Platform
    internal import Replica
    internal import StoreEngine
    internal import Synchronization

    /// A process's view of a group: a replica that a watch keeps up to date, for all participants of the process.
    final class GroupFeed: Sendable {
        struct Settings: Sendable {
            let clock: any TimeSource
            let limits: Limits
            let historyByteCount: Int
            let requestTimeout: Duration
        }

        private struct Content {
            var nextRevision: Int64
            var sessions: [Int64: SessionID]
            var madeAgain: [Key: Revision]
            var extras: [NotificationName: (value: UInt64, revision: Int64)]
            /// The outcomes of requests that their senders have not fetched yet; nil for a request that has not been
            /// seen.
            var deliveries: [Delivery: Commit?] = [:]
            /// Increases each time that the state is read anew. Commits may have been missed then.
            var generation = 0
            var watch: Int64?
            var failure: SharedCoreError?
            var isEnded = false
        }

        struct Delivery: Hashable {
            let session: SessionID
            let number: UInt64
        }

        let keys: Keyspace
        let cluster: Cluster
        let settings: Settings
        let replica: Replica
        private let waiters = Waiters()
        private let content: Mutex<Content>
        let timer = ExpiryTimer()
        private let leftovers: Leftovers

        var clock: any TimeSource { settings.clock }

        /// Reads a group and starts following it.
        static func open(_ keys: Keyspace, on cluster: Cluster, settings: Settings) async throws(SharedCoreError)
            -> GroupFeed
        {
            let load: GroupLoad
            do throws(EtcdFailure) {
                load = try await Self.load(keys, from: cluster, settings: settings)
            } catch {
                if Task.isCancelled { throw .cancelled("open") }
                throw error.harmless(at: "open")
            }
            let feed = GroupFeed(keys, on: cluster, settings: settings, load: load)
            feed.register()
            feed.scheduleExpiry()
            if EtcdDefect.unjudgedLeftovers.isPresent { feed.removeLeftovers() }
            return feed
        }

        /// Starts removing the leftovers of removed entries. The caller has a session, so the group's layout has been
        /// verified.
        func removeLeftovers() {
            leftovers.startRemoval(of: keys, from: cluster, timeout: settings.requestTimeout)
        }

        /// Fetches the changes since a revision that is older than the replica's history, as far as the cluster keeps
        /// them and memory allows. Changes that are lost are omitted: a watch reports the gap.
        func recall(after revision: Revision) async throws(SharedCoreError) {
            guard replica.read({ revision < $0.history.floor }) else { return }
            let load: GroupLoad
            do throws(EtcdFailure) {
                // A cluster's first revision is 1, and 0 requests the present revision.
                load = try await GroupLoad.read(
                    keys, from: cluster, at: max(1, revision.etcd), clock: clock, limits: settings.limits,
                    historyByteCount: settings.historyByteCount, timeout: settings.requestTimeout)
            } catch {
                switch error {
                case .compacted: return
                default: throw error.harmless(at: "watch")
                }
            }
            let past = GroupFeed(keys, on: cluster, settings: settings, load: load)
            past.register()
            defer { past.end() }
            let present = try await past.catchUp()
            let former = past.replica.change { state -> StoreState in
                if state.revision < present {
                    // The group has no further changes up to this revision.
                    state.apply(
                        Effect(
                            revision: present, time: clock.now(),
                            body: .committed(SessionID(rawValue: 0), requestNumber: nil, [])))
                }
                return state
            }
            replica.change { $0.keepHistory(of: former) }
        }

        /// Reads a group at its present revision; repeats the read if that is compacted away meanwhile.
        static func load(
            _ keys: Keyspace, from cluster: Cluster, settings: Settings,
            knowing former: [Key: (revision: Revision, expiry: BootInstant)] = [:]
        ) async throws(EtcdFailure) -> GroupLoad {
            while true {
                do throws(EtcdFailure) {
                    return try await GroupLoad.read(
                        keys, from: cluster, clock: settings.clock, limits: settings.limits,
                        historyByteCount: settings.historyByteCount, knowing: former, timeout: settings.requestTimeout)
                } catch {
                    guard case .compacted = error else { throw error }
                }
            }
        }

        private init(_ keys: Keyspace, on cluster: Cluster, settings: Settings, load: GroupLoad) {
            self.keys = keys
            self.cluster = cluster
            self.settings = settings
            replica = Replica(load.state)
            leftovers = Leftovers(load.leftovers)
            content = Mutex(
                Content(
                    nextRevision: load.revision + 1, sessions: load.sessions, madeAgain: load.madeAgain,
                    extras: load.extras))
        }

        /// Ends the watch: the feed has no more users.
        func end() {
            let watch = content.withLock { content -> Int64? in
                content.isEnded = true
                return content.watch
            }
            if let watch { cluster.watches.remove(watch) }
            timer.end()
            leftovers.end()
            waiters.resume { _ in true }
        }

        /// Throws the error of a failed feed.
        func check() throws(SharedCoreError) {
            if let failure = content.withLock({ $0.failure }) { throw failure }
        }

        /// True after the feed was ended.
        var isEnded: Bool { content.withLock { $0.isEnded } }

        /// True after the feed has failed.
        var hasFailed: Bool { content.withLock { $0.failure != nil } }

        // MARK: - Knowledge for commits

        /// Returns the revision at which a key was created again although etcd reports a change.
        func madeAgain(_ key: Key) -> Revision? { content.withLock { $0.madeAgain[key] } }

        /// Returns the count of further posts of a name, and the revision of its last write.
        func extra(_ name: NotificationName) -> (value: UInt64, revision: Int64) {
            content.withLock { $0.extras[name] } ?? (0, 0)
        }

        /// Registers a request that waits for its answer, so that its commit is recognized among the events.
        func expect(_ delivery: Delivery) -> Int {
            content.withLock { content in
                content.deliveries[delivery] = .some(nil)
                return content.generation
            }
        }

        func forget(_ delivery: Delivery) {
            content.withLock { _ = $0.deliveries.removeValue(forKey: delivery) }
        }

        /// Returns the commit of a request, if its event has arrived at the replica.
        ///
        /// - Parameter generation: The result of ``expect(_:)``.
        /// - Returns: The commit, nil if none has arrived; and false if the state was read anew since that generation,
        ///   so that a commit may have been missed.
        func commit(of delivery: Delivery, since generation: Int) -> (commit: Commit?, isSure: Bool) {
            content.withLock { ($0.deliveries[delivery] ?? nil, $0.generation == generation) }
        }

        // MARK: - Waiting

        /// Waits until the replica satisfies a condition; returns false at the timeout.
        func wait(
            timeout: Duration? = nil, until condition: @escaping Waiters.Condition
        ) async throws(SharedCoreError) -> Bool {
            try check()
            // An ended feed delivers no updates.
            let isEnded = content.withLock { $0.isEnded }
            _ = await waiters.wait(until: condition, timeout: isEnded ? .zero : timeout ?? settings.requestTimeout) {
                [self] condition in
                replica.read { condition(&$0) } || content.withLock { $0.isEnded }
            }
            try check()
            return replica.read { condition(&$0) }
        }

        /// Waits until the replica has reached the revision of a commit.
        func reach(_ revision: Revision) async throws(SharedCoreError) -> Bool {
            try await wait { $0.revision >= revision }
        }

        /// Brings the replica to the group's present revision, or further.
        ///
        /// Every commit and every opening writes the head; the end of a session's lease does not. So two values show
        /// whether the replica is current: the head's revision, and how many of the sessions that the replica knows
        /// still exist.
        ///
        /// - Returns: A revision up to which everything is reflected.
        @discardableResult
        func catchUp() async throws(SharedCoreError) -> Revision {
            let end = ContinuousClock.now.advanced(by: settings.requestTimeout)
            let answer = try await cluster.transaction(
                .make(then: [.get(keys.head), .count(in: keys.all(.session))]), timeout: settings.requestTimeout,
                at: "read")
            return try await catchUp(with: answer, until: end)
        }

        /// Waits until the replica reflects the group as of an answer of the cluster. The first two parts of the answer
        /// are the head and the count of sessions.
        ///
        /// - Returns: The revision of the answer.
        /// - Throws: ``SharedCoreError/Code/unavailable`` if the updates do not arrive by `end`, or within 1 s if that
        ///   is later.
        @discardableResult
        func catchUp(
            with answer: Etcdserverpb_TxnResponse, until end: ContinuousClock.Instant
        ) async throws(SharedCoreError) -> Revision {
            guard answer.responses.count >= 2 else { throw .unreadable("an answer") }
            let head = Revision(etcd: answer.responses[0].responseRange.kvs.first?.modRevision ?? 0)
            let sessionCount = Int(answer.responses[1].responseRange.count)
            let isThere = try await wait(timeout: max(.seconds(1), ContinuousClock.now.duration(to: end))) {
                Self.reflects(head, sessionCount, $0)
            }
            guard isThere else {
                if Task.isCancelled { throw .cancelled("read") }
                throw SharedCoreError(.unavailable, "The cluster's updates do not arrive.", at: "read")
            }
            return Revision(etcd: answer.header.revision)
        }

        private static func reflects(_ head: Revision, _ sessionCount: Int, _ state: StoreState) -> Bool {
            guard state.revision >= head else { return false }
            if state.sessions.count <= sessionCount || EtcdDefect.uncountedSessions.isPresent { return true }
            return state.sessions.keys.count { $0.rawValue <= head.rawValue } <= sessionCount
        }

        /// Ends the sessions of ended processes of this machine, without waiting for their leases.
        func endDead() async {
            let own = ProcessIdentity.current
            let sessions = replica.read { state in
                // Group the sessions by process, because one process may have many. Skip this process, which is alive.
                state.sessions.values.reduce(into: [ProcessIdentity: [Int64]]()) { sessions, known in
                    let process = known.session.process
                    guard process.bootID == own.bootID, process != own,
                        let mark = EtcdSessionMark(known.backendData), mark.namespace != 0,
                        mark.namespace == ProcessIdentity.currentNamespace
                    else { return }
                    sessions[process, default: []].append(mark.lease)
                }
            }
            for (process, leases) in sessions where process.liveness == .dead {
                for lease in leases { await LeasedSession.revoke(lease, on: cluster) }
            }
        }

        // MARK: - Following

        private func register() {
            let isEnded = content.withLock { $0.isEnded }
            guard !isEnded else { return }
            let id = cluster.watches.add(self)
            let unwanted = content.withLock { content -> Bool in
                content.watch = id
                return content.isEnded
            }
            if unwanted { cluster.watches.remove(id) }
        }

        private func fail(_ error: SharedCoreError) {
            content.withLock { $0.failure = error }
            replica.fail(with: error)
            end()
        }

        private func tellWaiters() {
            waiters.resume { condition in replica.read { condition(&$0) } }
        }

        /// Replaces the state by the group at its present revision: watches receive a snapshot.
        private func begin(anewWith load: GroupLoad) {
            content.withLock { content in
                content.nextRevision = load.revision + 1
                content.sessions = load.sessions
                content.madeAgain = load.madeAgain
                content.extras = load.extras
                content.generation += 1
            }
            if !EtcdDefect.overlookedCompaction.isPresent { replica.update { $0 = load.state } }
            tellWaiters()
            register()
            scheduleExpiry()
        }
    }

    extension GroupFeed: WatchListener {
        var range: Range<KeyBound> { keys.whole }
        var nextRevision: Int64 { content.withLock { $0.nextRevision } }

        func take(_ events: [Mvccpb_Event]) {
            let reader = EventReader(keys: keys, clock: clock)
            do throws(SharedCoreError) {
                var rest = events[...]
                var effects: [Effect] = []
                while let revision = rest.first?.kv.modRevision {
                    let end = rest.firstIndex { $0.kv.modRevision != revision } ?? rest.endIndex
                    if revision >= nextRevision { effects.append(try take(rest[..<end], at: revision, with: reader)) }
                    rest = rest[end...]
                }
                replica.update { state in
                    for effect in effects { state.apply(effect) }
                }
            } catch {
                fail(error)
                return
            }
            tellWaiters()
            scheduleExpiry()
        }

        private func take(
            _ events: ArraySlice<Mvccpb_Event>, at revision: Int64, with reader: EventReader
        ) throws(SharedCoreError) -> Effect {
            try content.withLock { content throws(SharedCoreError) in
                let reading = try reader.read(events, at: revision) { content.sessions[$0] }
                content.nextRevision = revision + 1
                let place = Revision(etcd: revision)
                if case .sessionOpened(let opening) = reading.effect.body,
                    let mark = EtcdSessionMark(opening.backendData)
                {
                    content.sessions[mark.lease] = SessionID(rawValue: place.rawValue)
                }
                if let lease = reading.endedLease { content.sessions[lease] = nil }
                for key in reading.madeAgain { content.madeAgain[key] = place }
                for key in reading.forgotten { content.madeAgain[key] = nil }
                for (name, value) in reading.extras { content.extras[name] = (value, revision) }
                if let (session, number, commit) = reading.delivery {
                    let delivery = Delivery(session: session, number: number)
                    if content.deliveries[delivery] != nil { content.deliveries[delivery] = .some(commit) }
                }
                return reading.effect
            }
        }

        func lost() {
            Task {
                let former = replica.read { state -> [Key: (revision: Revision, expiry: BootInstant)] in
                    var known: [Key: (revision: Revision, expiry: BootInstant)] = [:]
                    for (key, entry) in state.selection([.all]) {
                        if let expiry = entry.expiry { known[key] = (entry.revision, expiry) }
                    }
                    return known
                }
                do throws(EtcdFailure) {
                    self.begin(
                        anewWith: try await Self.load(keys, from: cluster, settings: settings, knowing: former))
                } catch {
                    if case .refused(let error) = error { return fail(error) }
                    guard !content.withLock({ $0.isEnded }) else { return }
                    lost()
                }
            }
        }

        func refused(_ reason: String) {
            fail(
                SharedCoreError(
                    .forbidden, "The cluster refuses to watch the group.", at: "etcd", cause: reason))
        }
    }
#endif
