public import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// A participant of a group that a hub serves: over a socket of this machine, or over a network.
///
/// ```swift
/// let group = try await ZMQGroup.open(
///     HubEndpoint("ipc:///run/user/1000/chat/hub"), group: "chat", as: SessionDescription(role: .main))
/// try await group.put("status", Array("ready".utf8))
/// ```
///
/// Every participant keeps a replica, so a read with ``ReadConsistency/causal`` sends no request. Releasing the last
/// reference ends the session, as closing does.
public final class ZMQGroup: SharedGroup {
    public let session: Session
    public let capabilities: Capabilities

    let link: HubLink
    private let deliveries: DeliveryExecutor
    private let replica: Replica
    private let handle: GroupHandle

    private init(link: HubLink, session: Session, capabilities: Capabilities, replica: Replica) {
        self.link = link
        self.deliveries = DeliveryExecutor(of: link.thread)
        self.session = session
        self.handle = GroupHandle(of: session.id, at: "hub")
        self.capabilities = capabilities
        self.replica = replica
    }

    /// The threads that wait for the hub: the hub's messages resume a task that runs there without a change of threads.
    public var deliveryExecutor: (any TaskExecutor)? {
        link.thread.beginCompanion() ? deliveries : nil
    }

    public var lease: SessionLease? { link.confirmation.withLock { $0 } }

    deinit {
        guard !handle.isClosed else { return }
        let link = link
        Task { await link.close() }
    }

    /// Joins the group that a hub serves.
    ///
    /// - Parameters:
    ///   - endpoint: Where the hub listens.
    ///   - group: The group's name. A hub that serves another group refuses.
    ///   - description: The participant's description of itself.
    ///   - options: How the participant uses the hub.
    /// - Throws: The errors of the backend behind the hub, and by code:
    ///   - ``SharedCoreError/Code/unavailable`` when no hub answers in time.
    ///   - ``SharedCoreError/Code/forbidden`` when the hub does not admit this client or serves another group, and when
    ///     its socket or the socket's directory is another user's or open to others.
    ///   - ``SharedCoreError/Code/incompatible`` for another version of the protocol.
    ///   - ``SharedCoreError/Code/unsupported`` when a requirement is not met.
    public static func open(
        _ endpoint: HubEndpoint, group: String, as description: SessionDescription = SessionDescription(),
        options: ZMQGroupOptions = ZMQGroupOptions()
    ) async throws(SharedCoreError) -> ZMQGroup {
        try TimeNamespace.requireKnown()
        try requireKeys(for: endpoint, options)
        var endpoint = try endpoint.trusted()
        // One deadline covers the start of a hub and joining.
        var options = options
        let clock = SystemClock()
        let deadline = options.openTimeout.map { clock.now().advanced(by: $0) }
        if let launcher = options.launcher { try await launcher.launch(at: endpoint, timeout: options.openTimeout) }
        options.openTimeout = deadline.map { clock.now().duration(to: $0) }
        // Check the path again: one that did not exist before may be another user's by now.
        endpoint = try endpoint.trusted()
        let link = try HubLink(to: endpoint, group: group, as: description, options: options)
        let starting = options.launcher.map { [endpoint] launcher in
            Task { await launcher.keepLaunched(at: endpoint) }
        }
        defer { starting?.cancel() }
        let (welcome, replica) = try await link.join()
        let capabilities = welcome.promises(through: endpoint)
        do throws(SharedCoreError) {
            // Check once more, for a hub that began to listen at the path after the last check.
            _ = try endpoint.trusted()
            try capabilities.satisfy(options.requirements)
        } catch {
            await link.close()
            throw error
        }
        return ZMQGroup(link: link, session: welcome.session, capabilities: capabilities, replica: replica)
    }

    /// Opens the group of a hub for reading. All reads of the handle return the state at one revision, that of the
    /// opening; open again to read a later state.
    ///
    /// The reader has no session and takes no revision. Calls that write throw ``SharedCoreError/Code/forbidden``, and
    /// watches and observations ``SharedCoreError/Code/unsupported``. No hub is started.
    ///
    /// Source: contract L4.
    ///
    /// - Throws: As ``open(_:group:as:options:)``.
    public static func openToRead(
        _ endpoint: HubEndpoint, group: String, as description: SessionDescription = SessionDescription(),
        options: ZMQGroupOptions = ZMQGroupOptions()
    ) async throws(SharedCoreError) -> any SharedGroup {
        try requireKeys(for: endpoint, options)
        let endpoint = try endpoint.trusted()
        let view = try await HubLink(to: endpoint, group: group, as: description, options: options, isReader: true)
            .look()
        // A hub that answered where there was none until now may be another user's.
        _ = try endpoint.trusted()
        return try GroupView(
            view.state, as: .reader(description, in: .current, at: SystemClock()),
            capabilities: view.capabilities.through(endpoint), satisfying: options.requirements,
            location: "\(endpoint)")
    }

    private static func requireKeys(for endpoint: HubEndpoint, _ options: ZMQGroupOptions) throws(SharedCoreError) {
        guard endpoint.isOverNetwork, options.keys == nil else { return }
        throw SharedCoreError(
            .invalidArgument, "A hub at a port is reached with keys: one's own, and the public one of the hub.",
            at: "\(endpoint)")
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
        try handle.requireOpen()
        guard case .outcome(let outcome, _, _) = try await ask(.commit(transaction)) else {
            throw Wire.malformed("an answer is not one to its question")
        }
        return try outcome.get()
    }

    public func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await watch(prefixes, from: start, isQuiet: false)
    }

    private func watch(
        _ prefixes: [KeyPrefix], from start: WatchStart, isQuiet: Bool
    ) async throws(SharedCoreError) -> Watch {
        let floor = try await read { state in state.history.floor }
        // Changes from before this participant joined are requested only when a watch needs them.
        if case .after(let revision) = start, revision < floor { _ = try await ask(.history(after: revision)) }
        return try handle.requireOpen(
            for: replica.watch(
                prefixes, from: start, for: session.id, catchUp: {}, onCancel: countWatch(isQuiet: isQuiet)))
    }

    public func sync() async throws(SharedCoreError) {
        try await read { _ in }
    }

    public func sessions() async throws(SharedCoreError) -> [Session] {
        try handle.requireOpen()
        _ = try await ask(.probe)
        return try await read(.causal) { state in state.openSessions }
    }

    public func close() async {
        guard handle.close() else { return }
        replica.finish(session.id, with: nil)
        await link.close()
    }

    // MARK: - Notifier

    public func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try await sync()
        return try handle.requireOpen(
            for: replica.observe(name, for: session.id, catchUp: {}, onCancel: countWatch(isQuiet: false)))
    }

    public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await read { state in state.topic(name) }
    }

    public func usage() async throws(SharedCoreError) -> StoreUsage? {
        try await read { state in state.usage }
    }

    // MARK: - Private

    /// Counts a watch or an observation that begins.
    ///
    /// - Returns: A closure that notes its end.
    private func countWatch(isQuiet: Bool) -> @Sendable () -> Void {
        link.countWatch(1, isQuiet: isQuiet)
        return { [weak link] in link?.countWatch(-1, isQuiet: isQuiet) }
    }

    /// Reads the state, brought up to date where that is asked for.
    private func read<Result: Sendable>(
        _ consistency: ReadConsistency = .linearizable,
        _ body: (inout StoreState) throws(SharedCoreError) -> sending Result
    ) async throws(SharedCoreError) -> Result {
        try handle.requireOpen()
        if consistency == .linearizable { _ = try await ask(.read) }
        return try replica.read { state throws(SharedCoreError) in
            try self.handle.requireSession(in: state)
            return try body(&state)
        }
    }

    private func ask(_ question: PendingRequest.Question) async throws(SharedCoreError) -> Reply.Body {
        do throws(SharedCoreError) {
            return try await link.ask(question)
        } catch {
            throw handle.applicationError(error)
        }
    }
}

extension Reply.Welcome {
    /// Returns the capabilities of a client of the hub.
    func promises(through endpoint: HubEndpoint) -> Capabilities {
        capabilities.through(endpoint, isLeased: lease != nil)
    }
}

extension Capabilities {
    /// Returns these capabilities as they are through a hub at an endpoint.
    fileprivate func through(_ endpoint: HubEndpoint, isLeased: Bool = false) -> Capabilities {
        var features = features
        // Several processes share any storage through a hub.
        if case .inproc = endpoint {} else { features.insert(.multipleProcesses) }
        // A stopped hub blocks all participants.
        features.remove(.stoppedWritersTolerated)
        if isLeased { features.remove(.promptDeathNotice) }
        return Capabilities(
            backend: "zmq", features: features, durability: durability, limits: limits, wakeUp: .direct)
    }
}

extension ZMQGroup: SessionProver {
    package func doubt(that process: ProcessIdentity, has session: SessionID) async -> String? {
        // The hub records a process of this boot only if the kernel has confirmed it, so equal identities prove the
        // process.
        replica.read { $0.sessions[session]?.session.process } == process
            ? nil : "the hub has seen another process in its session"
    }
}

extension ZMQGroup: QuietWatching {
    package func watchQuietly(
        _ prefixes: [KeyPrefix], from start: WatchStart
    ) async throws(SharedCoreError) -> Watch {
        try await watch(prefixes, from: start, isQuiet: true)
    }
}

extension ZMQGroup: BatonDepositing {
    package func keepBaton(
        _ bytes: [UInt8], of epoch: Revision, for lifetime: Duration
    ) async throws(SharedCoreError) {
        try handle.requireOpen()
        guard case .done = try await ask(.keepBaton(bytes, of: epoch, for: lifetime)) else {
            throw Wire.malformed("an answer is not one to its question")
        }
    }

    package func fetchBaton(of epoch: Revision, under own: Revision) async throws(SharedCoreError) -> [UInt8]? {
        try handle.requireOpen()
        guard case .baton(let bytes) = try await ask(.fetchBaton(of: epoch, under: own)) else {
            throw Wire.malformed("an answer is not one to its question")
        }
        return bytes
    }
}

/// How a participant reaches a hub.
public struct ZMQGroupOptions: Sendable {
    /// The features that the caller relies on.
    public var requirements: Requirements
    /// The bytes of memory for changes kept for watches that resume or fall behind.
    public var historyByteCount: Int
    /// How long opening waits for a hub; nil waits without limit.
    public var openTimeout: Duration?
    /// How long a request waits for its answer, including reconnections. A commit without an answer is
    /// ``SharedCoreError/Code/outcomeUnknown``.
    public var requestTimeout: Duration
    /// The keys of a connection to a port; other connections use none.
    public var keys: CurveClientKeys?
    /// How to start a hub when there is none; nil starts none.
    public var launcher: HubLauncher?
    /// When a silent hub at a port is given up. Tests shorten it.
    var times = ConnectionTimes()
    /// The largest answer that is accepted. Tests lower it.
    var answerByteLimit = Wire.answerByteLimit

    public init(
        requirements: Requirements = .none, historyByteCount: Int = 256 << 10, openTimeout: Duration? = .seconds(5),
        requestTimeout: Duration = .seconds(10), keys: CurveClientKeys? = nil, launcher: HubLauncher? = nil
    ) {
        self.requirements = requirements
        self.historyByteCount = historyByteCount
        self.openTimeout = openTimeout
        self.requestTimeout = requestTimeout
        self.keys = keys
        self.launcher = launcher
    }
}
