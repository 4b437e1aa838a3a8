#if Etcd
    public import CoreAPI
    internal import FoundationEssentials
    internal import GRPCCore
    internal import Platform
    internal import Replica
    internal import StoreEngine
    internal import SwiftProtobuf

    /// A participant of a group on etcd. Its processes may be on several machines.
    ///
    /// ```swift
    /// let cluster = try EtcdCluster([.init("10.0.0.1:2379"), .init("10.0.0.2:2379"), .init("10.0.0.3:2379")])
    /// let group = try await EtcdGroup.open(cluster, group: "chat", as: SessionDescription(role: .main))
    /// try await group.put("status", Array("ready".utf8))
    /// ```
    ///
    /// Revisions are etcd's, so they rise over all groups of a cluster. A session is a lease. Every process keeps a
    /// replica of each of its groups, so a read with ``ReadConsistency/causal`` sends no request. Releasing the last
    /// reference ends the session, as closing does.
    public final class EtcdGroup: SharedGroup {
        public let session: Session
        public let capabilities: Capabilities

        let feed: GroupFeed
        let leasedSession: LeasedSession
        private let handle: GroupHandle

        private init(feed: GroupFeed, leasedSession: LeasedSession, session: Session, capabilities: Capabilities) {
            self.feed = feed
            self.leasedSession = leasedSession
            self.session = session
            self.capabilities = capabilities
            self.handle = GroupHandle(
                of: session.id, at: "etcd", codesOfClosing: [.sessionEnded, .cancelled, .unavailable])
        }

        public var lease: SessionLease? { leasedSession.confirmation.lease }

        deinit {
            guard !handle.isClosed else { return }
            let (feed, leasedSession) = (feed, leasedSession)
            // A watch may outlive its group's handle.
            if !EtcdDefect.forgottenWatch.isPresent {
                feed.replica.finish(session.id, with: .sessionEnded(session.id))
            }
            Task { await leasedSession.leave(feed) }
        }

        /// Joins a group.
        ///
        /// - Parameters:
        ///   - cluster: The addresses of the cluster.
        ///   - group: The group's name.
        ///   - description: The participant's description of itself.
        ///   - options: How the participant uses the cluster.
        /// - Throws: ``SharedCoreError/Code/unavailable`` when the cluster does not answer in time,
        ///   ``SharedCoreError/Code/forbidden`` when it does not let this client in,
        ///   ``SharedCoreError/Code/incompatible`` when the group is kept in another layout,
        ///   ``SharedCoreError/Code/unsupported`` when a requirement is not met.
        public static func open(
            _ cluster: EtcdCluster, group: String, as description: SessionDescription = SessionDescription(),
            options: EtcdGroupOptions = EtcdGroupOptions()
        ) async throws(SharedCoreError) -> EtcdGroup {
            guard let limit = options.openTimeout, !EtcdDefect.patientOpening.isPresent else {
                return try await join(cluster, group: group, as: description, options: options)
            }
            let outcome = Promise<Result<EtcdGroup, SharedCoreError>>()
            let joining = Task {
                let result: Result<EtcdGroup, SharedCoreError>
                do throws(SharedCoreError) {
                    result = .success(try await join(cluster, group: group, as: description, options: options))
                } catch {
                    result = .failure(error)
                }
                // The caller no longer waits, so close the group that was opened too late.
                if !outcome.fulfil(result), case .success(let late) = result { await late.close() }
            }
            let timer = Task {
                try await Task.sleep(for: limit)
                outcome.fulfil(
                    .failure(SharedCoreError(.unavailable, "The cluster does not answer within \(limit).", at: "open")))
                joining.cancel()
            }
            defer { timer.cancel() }
            // Other participants of this process may wait for the same load of the group, so a cancelled caller does
            // not stop it.
            let result = await withTaskCancellationHandler {
                await outcome.value()
            } onCancel: {
                outcome.fulfil(.failure(.cancelled("open")))
                joining.cancel()
            }
            return try result.get()
        }

        private static func join(
            _ cluster: EtcdCluster, group: String, as description: SessionDescription, options: EtcdGroupOptions
        ) async throws(SharedCoreError) -> EtcdGroup {
            try TimeNamespace.requireKnown()
            let capabilities = promises(of: options)
            try capabilities.satisfy(options.requirements)
            let cluster = try Clusters.cluster(at: cluster)
            let keys = try Keyspace(prefix: options.prefix, group: group)
            let feed = try await cluster.feeds.feed(
                of: keys, on: cluster,
                settings: GroupFeed.Settings(
                    clock: options.clock, limits: options.limits, historyByteCount: options.historyByteCount,
                    requestTimeout: options.requestTimeout))
            do throws(SharedCoreError) {
                let leasedSession = try await LeasedSession.take(in: feed, as: description, lease: options.lease)
                // Waiting for the opening also brings the other participants' entries up to date.
                guard try await feed.reach(Revision(rawValue: leasedSession.id.rawValue)),
                    let session = feed.replica.read({ $0.sessions[leasedSession.id]?.session })
                else {
                    await leasedSession.leave(feed, releasing: false)
                    throw SharedCoreError(.unavailable, "The cluster's updates do not arrive.", at: "open")
                }
                feed.removeLeftovers()
                await feed.endDead()
                return EtcdGroup(feed: feed, leasedSession: leasedSession, session: session, capabilities: capabilities)
            } catch {
                cluster.feeds.release(feed)
                throw error
            }
        }

        /// Opens a group to read it at its present revision: no lease, no session, no write. A call that writes is
        /// `forbidden`, and one that waits for changes `unsupported`.
        ///
        /// Source: contract L4.
        ///
        /// - Throws: ``SharedCoreError/Code/unavailable`` when there is no such group or the cluster does not answer in
        ///   time, and the errors of ``open(_:group:as:options:)``.
        public static func openToRead(
            _ cluster: EtcdCluster, group: String, as description: SessionDescription = SessionDescription(),
            options: EtcdGroupOptions = EtcdGroupOptions()
        ) async throws(SharedCoreError) -> any SharedGroup {
            try TimeNamespace.requireKnown()
            let cluster = try Clusters.cluster(at: cluster)
            let keys = try Keyspace(prefix: options.prefix, group: group)
            let load: GroupLoad
            do throws(EtcdFailure) {
                load = try await GroupFeed.load(
                    keys, from: cluster,
                    settings: GroupFeed.Settings(
                        clock: options.clock, limits: options.limits, historyByteCount: 0,
                        requestTimeout: options.requestTimeout))
            } catch {
                if Task.isCancelled { throw .cancelled("open") }
                throw error.harmless(at: "open")
            }
            guard let layout = load.layout else {
                throw SharedCoreError(.unavailable, "There is no group of this name on the cluster.", at: "etcd")
            }
            guard layout == Keyspace.layoutVersion else { throw .unknownLayout }
            var state = load.state
            // The end of a lease removes the session's keys, so all sessions in this state are alive.
            state.removeOver([], at: options.clock.now())
            return try GroupView(
                state, as: .reader(description, in: .current, at: options.clock), capabilities: promises(of: options),
                satisfying: options.requirements, location: "etcd")
        }

        private static func promises(of options: EtcdGroupOptions) -> Capabilities {
            Capabilities(
                backend: "etcd",
                features: [
                    .multipleProcesses, .stoppedWritersTolerated, .linearizableReads, .resumableWatches,
                    .previousValues,
                    .deduplicatedRequests,
                ],
                durability: .disk, limits: options.limits)
        }

        // MARK: - Store

        public func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
            try await bringUpToDate(consistency)
            let now = feed.clock.now()
            return try read { state throws(SharedCoreError) in
                guard let stored = state.entry(key), !stored.isDue(at: now) else { return nil }
                return try stored.entry(for: key)
            }
        }

        public func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
            try await bringUpToDate(consistency)
            let now = feed.clock.now()
            return try read { state throws(SharedCoreError) in
                try Snapshot(
                    revision: state.revision, stored: state.selection([prefix]).filter { !$0.entry.isDue(at: now) })
            }
        }

        public func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
            try await within(leasedSession.commits) { () throws(SharedCoreError) in
                guard !Task.isCancelled else { throw .cancelled("commit") }
                // If the cluster has no space, expired entries cannot be removed. Evaluate the request nevertheless.
                try await self.removeDue { $0 == .storageFull }
                do throws(SharedCoreError) {
                    try self.checkLimits(of: transaction)
                } catch {
                    guard error.code == .limitExceeded else { throw error }
                    // A request that has been answered once gets the same answer again, in any later state of the
                    // store.
                    if let number = transaction.requestNumber, let kept = try await self.keptResult(of: number) {
                        return try kept.get()
                    }
                    // The end of a session may have freed space that this replica does not know of yet.
                    if EtcdDefect.staleLimits.isPresent { throw error }
                    try await self.feed.catchUp()
                    try self.checkLimits(of: transaction)
                }
                return try await self.record(transaction).get()
            }
        }

        public func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
            try await bringUpToDate(.linearizable)
            try read { _ in }
            if case .after(let revision) = start {
                try await within(leasedSession.reads) { () throws(SharedCoreError) in
                    try await self.feed.recall(after: revision)
                }
            }
            return try handle.requireOpen(
                for: feed.replica.watch(prefixes, from: start, for: session.id, catchUp: {}, onCancel: {}))
        }

        public func sync() async throws(SharedCoreError) {
            try await bringUpToDate(.linearizable)
            try read { _ in }
        }

        public func sessions() async throws(SharedCoreError) -> [Session] {
            await feed.endDead()
            try await bringUpToDate(.linearizable)
            return try read { state in state.openSessions }
        }

        public func close() async {
            guard handle.close() else { return }
            leasedSession.reads.cancelAll()
            feed.replica.finish(session.id, with: nil)
            // Once the session has ended, the cluster refuses its requests that are still on their way, so the pending
            // commits learn their outcome. If the cluster is unreachable, the close does not wait for it.
            let isOver = await leasedSession.leave(feed, releasing: false)
            if !isOver { leasedSession.commits.cancelAll() }
            // Keep the feed until the pending commits have learnt their outcome from it.
            let (feed, leasedSession) = (feed, leasedSession)
            guard !leasedSession.commits.isEmpty else { return feed.cluster.feeds.release(feed) }
            Task {
                await leasedSession.commits.untilEmpty()
                feed.cluster.feeds.release(feed)
            }
        }

        // MARK: - Notifier

        public func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
            try await bringUpToDate(.linearizable)
            try read { _ in }
            return try handle.requireOpen(
                for: feed.replica.observe(name, for: session.id, catchUp: {}, onCancel: {}))
        }

        public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
            try await bringUpToDate(.linearizable)
            return try read { state in state.topic(name) }
        }

        public func usage() async throws(SharedCoreError) -> StoreUsage? {
            try await bringUpToDate(.linearizable)
            return try read { state in state.usage }
        }

        // MARK: - Private

        private func bringUpToDate(_ consistency: ReadConsistency) async throws(SharedCoreError) {
            try await within(leasedSession.reads) { () throws(SharedCoreError) in
                try self.feed.check()
                guard consistency == .linearizable else { return }
                try await self.feed.catchUp()
                try await self.removeDue()
            }
        }

        /// Removes the entries that are due. Reads omit an entry that cannot be removed now; it is removed later.
        ///
        /// - Parameter isTolerable: Returns whether an error of the removal may be ignored.
        private func removeDue(
            tolerating isTolerable: (SharedCoreError.Code) -> Bool = { _ in true }
        ) async throws(SharedCoreError) {
            do throws(SharedCoreError) {
                try await feed.expire()
            } catch {
                if Task.isCancelled { throw .cancelled("etcd") }
                try feed.check()
                guard isTolerable(error.code) else { throw error }
            }
        }

        private func checkLimits(of transaction: Transaction) throws(SharedCoreError) {
            try read { state throws(SharedCoreError) in try state.checkLimits(of: transaction) }
        }

        func read<Result>(
            _ body: (inout StoreState) throws(SharedCoreError) -> sending Result
        ) throws(SharedCoreError) -> sending Result {
            try feed.replica.read { state throws(SharedCoreError) in
                try self.handle.requireSession(in: state)
                return try body(&state)
            }
        }

        /// Runs a user's call, which the group's close ends.
        private func within<Answer: Sendable>(
            _ calls: PendingCalls, _ body: @escaping @Sendable () async throws(SharedCoreError) -> Answer
        ) async throws(SharedCoreError) -> Answer {
            try handle.requireOpen()
            let result = await calls.run { () -> Result<Answer, SharedCoreError> in
                do throws(SharedCoreError) { return .success(try await body()) } catch { return .failure(error) }
            }
            switch result {
            case .success(let answer): return answer
            case .failure(let error): throw handle.applicationError(error)
            }
        }

        /// True after the user has closed the group.
        var isClosing: Bool { handle.isClosed }
    }

    extension StoredEntry {
        /// Returns whether it has expired.
        fileprivate func isDue(at now: BootInstant) -> Bool { expiry.map { $0 <= now } ?? false }
    }

    extension EtcdGroup: SessionProver {
        package func doubt(that process: ProcessIdentity, has session: SessionID) async -> String? {
            guard let state = feed.replica.read({ $0.sessions[session] }), let mark = EtcdSessionMark(state.backendData)
            else { return "its session is over" }
            if EtcdDefect.believedRecord.isPresent { return nil }
            return SessionSocket.doubt(
                that: process.pid, hasSessionNamed: LeasedSession.socketName(ofLease: mark.lease))
        }
    }

    extension EtcdGroup {
        /// Removes a group with all its content: for tests, which create many.
        package static func erase(
            _ group: String, at place: EtcdCluster, prefix: String
        ) async throws(SharedCoreError) {
            let keys = try Keyspace(prefix: prefix, group: group)
            let cluster = try Clusters.cluster(at: place)
            _ = try await cluster.transaction(
                .make(then: [.delete(keys.whole)]), timeout: .seconds(10), at: "erase")
        }
    }

    extension EtcdGroup {
        /// Compacts all revisions before the present one, as an operator does from time to time: for tests.
        package func compact() async throws(SharedCoreError) {
            let present = try await feed.catchUp()
            _ = try await feed.cluster.call(timeout: .seconds(10), at: "compact") { connection, options in
                try await Etcdserverpb_KV.Client(wrapping: connection).compact(
                    request: ClientRequest(
                        message: .with {
                            $0.revision = present.etcd
                            $0.physical = true
                        }), options: options)
            }
        }
    }
#endif
