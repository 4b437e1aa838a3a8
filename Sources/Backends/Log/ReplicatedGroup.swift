public import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// A participant of a group whose order is kept by a ``SharedLog``: a complete backend over that log.
///
/// ```swift
/// let group = try await ReplicatedGroup.open(
///     log: try TableLog(path: "chat.sqlite"), as: SessionDescription(role: .main),
///     options: LogGroupOptions(
///         backend: "table", features: [.multipleProcesses, .promptDeathNotice], durability: .process))
/// try await group.put("status", Array("ready".utf8))
/// ```
///
/// Every participant keeps a replica, so a read with ``ReadConsistency/causal`` does not use the log. A linearizable
/// read reads the log once, and a commit appends once. Releasing the last reference ends the session, as closing does.
public final class ReplicatedGroup: SharedGroup {
    public let session: Session
    public let capabilities: Capabilities

    public var lease: SessionLease? { order.log.lease }

    /// The time limit for recording the session's end when the handle closes, and for closing the log.
    private static let closeTimeout = Duration.seconds(5)

    let order: LogOrder
    private let handle: GroupHandle
    private let following: Task<Void, Never>

    private init(_ order: LogOrder, session: Session) {
        self.order = order
        self.session = session
        capabilities = order.options.capabilities
        // A log that is closed during a call may return any error.
        handle = GroupHandle(
            of: session.id, at: order.options.backend,
            codesOfClosing: [.sessionEnded, .cancelled, .unavailable, .system])
        following = Task { await order.follow(as: session.id) }
    }

    deinit {
        guard !handle.isClosed else { return }
        // A watch may live longer than its group's handle.
        order.replica.finish(session.id, with: .sessionEnded(session.id))
        let (order, following, session) = (order, following, session)
        Task { await Self.leave(order, following, session.id) }
    }

    /// Joins the group in a log, as its first participant if the log is empty.
    ///
    /// - Parameters:
    ///   - log: The log, opened for this participant alone. It is closed with the group, also when this throws.
    ///   - description: The description that the participant gives of itself.
    ///   - options: The properties of the log, and the way in which it is used.
    /// - Throws: ``SharedCoreError/Code/unsupported`` when a requirement is not met,
    ///   ``SharedCoreError/Code/incompatible`` for records of another version and while participants with another boot
    ///   id have the group open, ``SharedCoreError/Code/corrupt`` for invalid records, and the errors of the log.
    public static func open(
        log: any SharedLog, as description: SessionDescription = SessionDescription(), options: LogGroupOptions
    ) async throws(SharedCoreError) -> ReplicatedGroup {
        let order = LogOrder(log, options: options)
        do throws(SharedCoreError) {
            try TimeNamespace.requireKnown()
            try options.capabilities.satisfy(options.requirements)
            try await order.begin()
            try await order.endDead(except: nil)
            return ReplicatedGroup(order, session: try await order.join(description))
        } catch {
            await wait(for: closeTimeout) { await order.close() }
            throw error
        }
    }

    /// Opens the group in a log to read it at its present revision. Appends nothing: no session, no commit. A call that
    /// writes is `forbidden`, and one that waits for changes `unsupported`.
    ///
    /// Source: contract L4.
    ///
    /// - Parameters:
    ///   - log: The log. It is closed when this returns or throws.
    ///   - description: The name of the reader, for people.
    ///   - options: The properties of the log.
    /// - Throws: ``SharedCoreError/Code/unavailable`` for an empty log, otherwise as ``open(log:as:options:)``.
    public static func openToRead(
        log: any SharedLog, as description: SessionDescription = SessionDescription(), options: LogGroupOptions
    ) async throws(SharedCoreError) -> any SharedGroup {
        let order = LogOrder(log, options: options)
        let view: Result<GroupView, SharedCoreError>
        do throws(SharedCoreError) {
            try TimeNamespace.requireKnown()
            let (state, revision) = try await order.presentState()
            view = .success(
                try GroupView(
                    state, at: revision, as: .reader(description, in: .current, at: options.clock),
                    capabilities: options.capabilities, satisfying: options.requirements, location: options.backend))
        } catch {
            view = .failure(error)
        }
        await wait(for: closeTimeout) { await order.close() }
        return try view.get()
    }

    // MARK: - Store

    public func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await read(consistency) { state throws(SharedCoreError) in try state.entry(key)?.entry(for: key) }
    }

    public func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await read(consistency) { state throws(SharedCoreError) in
            try Snapshot(revision: state.revision, stored: state.selection([prefix]))
        }
    }

    public func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try await calling { () throws(SharedCoreError) in
            guard !Task.isCancelled else { throw .cancelled("commit") }
            return try await self.order.record(.commit(transaction, of: self.session.id)).get()
        }
    }

    public func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await sync()
        return try handle.requireOpen(
            for: order.replica.watch(prefixes, from: start, for: session.id, catchUp: {}, onCancel: {}))
    }

    public func sync() async throws(SharedCoreError) {
        try await read(.linearizable) { _ in }
    }

    public func sessions() async throws(SharedCoreError) -> [Session] {
        try await calling { () throws(SharedCoreError) in
            try await self.order.catchUp()
            try await self.order.endDead(except: self.session.id)
        }
        return try await read(.linearizable) { state in state.openSessions }
    }

    public func usage() async throws(SharedCoreError) -> StoreUsage? {
        try await read(.linearizable) { state in state.usage }
    }

    /// Ends the session and closes the log.
    ///
    /// Waits at most 10 s for a log that does not answer. The other participants then detect the end of the session.
    public func close() async {
        guard handle.close() else { return }
        order.replica.finish(session.id, with: nil)
        await Self.leave(order, following, session.id)
    }

    // MARK: - Notifier

    public func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try await sync()
        return try handle.requireOpen(
            for: order.replica.observe(name, for: session.id, catchUp: {}, onCancel: {}))
    }

    public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await read(.linearizable) { state in state.topic(name) }
    }

    // MARK: - Private

    /// Ends the session and closes the log. If the end cannot be recorded, the other participants find it by the
    /// process or the lease.
    private static func leave(_ order: LogOrder, _ following: Task<Void, Never>, _ session: SessionID) async {
        following.cancel()
        await wait(for: closeTimeout) { _ = try? await order.record(.end(session)) }
        await wait(for: closeTimeout) { await order.close() }
    }

    /// Runs a body and waits for it until the timeout, also in a cancelled task. After the timeout the body is
    /// cancelled, and this call returns without waiting for its end.
    private static func wait(for timeout: Duration, until body: @escaping @Sendable () async -> Void) async {
        let end = Promise<Void>()
        let work = Task {
            await body()
            end.open()
        }
        let limit = Task {
            guard (try? await LogOrder.pause(timeout)) != nil else { return }
            work.cancel()
            end.open()
        }
        await end.pass()
        limit.cancel()
    }

    /// Reads the state. For a linearizable read, brings the replica up to date first.
    private func read<Result: Sendable>(
        _ consistency: ReadConsistency,
        _ body: (inout StoreState) throws(SharedCoreError) -> sending Result
    ) async throws(SharedCoreError) -> Result {
        try await calling { () throws(SharedCoreError) in
            if consistency == .linearizable { try await self.order.refresh() } else { try self.order.check() }
        }
        do throws(SharedCoreError) {
            return try order.replica.read { state throws(SharedCoreError) in
                try self.handle.requireSession(in: state)
                return try body(&state)
            }
        } catch {
            throw handle.applicationError(error)
        }
    }

    /// Runs a call of the application.
    private func calling<Answer>(
        _ body: () async throws(SharedCoreError) -> Answer
    ) async throws(SharedCoreError) -> Answer {
        try handle.requireOpen()
        do throws(SharedCoreError) { return try await body() } catch { throw handle.applicationError(error) }
    }
}
