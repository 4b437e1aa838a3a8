public import CoreAPI
package import Replica
package import StoreEngine
internal import Synchronization

/// The memory of one process in which groups live, each under its name.
///
/// ```swift
/// let space = MemorySpace()
/// let main = try await space.open("chat", as: SessionDescription(role: .main))
/// let executor = try await space.open("chat", as: SessionDescription(role: .executor))
/// ```
///
/// A group is removed with its last handle.
public final class MemorySpace: Sendable {
    private struct Weak {
        weak var store: MemoryStore?
    }

    private let clock: any TimeSource
    private let limits: Limits
    private let historyByteCount: Int
    private let executor: (any TaskExecutor)?
    /// Returns the process of a participant that names none.
    private let ownProcess: @Sendable () -> ProcessIdentity
    private let stores = Mutex<[String: Weak]>([:])

    /// Makes an empty space that makes no system calls: for a process in which `Platform` is not built.
    ///
    /// - Parameters:
    ///   - clock: The clock by which entries expire.
    ///   - process: The process of a participant that names none.
    ///   - limits: The sizes that its groups accept.
    ///   - historyByteCount: The bytes of changes that each group keeps for watches that resume or fall behind.
    public convenience init(
        clock: any TimeSource, process: ProcessIdentity, limits: Limits = Limits(), historyByteCount: Int = 1 << 20
    ) {
        self.init(
            clock: clock, limits: limits, historyByteCount: historyByteCount, executor: nil, ownProcess: { process })
    }

    /// Makes an empty space.
    ///
    /// - Parameters:
    ///   - executor: The executor on which entries expire; nil for the concurrent pool.
    ///   - ownProcess: Returns the process of a participant that names none.
    package init(
        clock: any TimeSource, limits: Limits, historyByteCount: Int, executor: (any TaskExecutor)?,
        ownProcess: @escaping @Sendable () -> ProcessIdentity
    ) {
        self.executor = executor
        self.ownProcess = ownProcess
        self.clock = clock
        self.limits = limits
        self.historyByteCount = historyByteCount
    }

    /// Joins a group. It is empty if no participant had it open.
    ///
    /// - Parameters:
    ///   - group: The group's name. Groups never see each other (contract S14).
    ///   - description: The description that the participant gives of itself.
    ///   - process: The process of the participant. A test gives each simulated process its own.
    ///   - requirements: The features that the caller relies on.
    /// - Throws: ``SharedCoreError/Code/unsupported`` when a requirement is not met.
    public func open(
        _ group: String, as description: SessionDescription = SessionDescription(),
        process: ProcessIdentity? = nil, requirements: Requirements = .none
    ) async throws(SharedCoreError) -> MemoryGroup {
        try capabilities.satisfy(requirements)
        let store = store(of: group)
        let opening = SessionOpening(process: process ?? ownProcess(), description: description)
        return MemoryGroup(store: store, session: try store.join(opening), capabilities: capabilities)
    }

    /// Opens a group to read it at its present revision: no session, no revision. A call that writes is `forbidden`,
    /// and one that waits for changes `unsupported`.
    ///
    /// Source: contract L4.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when no participant has the group open.
    public func openToRead(
        _ group: String, as description: SessionDescription = SessionDescription()
    ) async throws(SharedCoreError) -> any SharedGroup {
        guard let store = stores.withLock({ $0[group]?.store }) else {
            throw SharedCoreError(.unavailable, "No participant has the group open.", at: "memory")
        }
        var state = store.replica.read { $0 }
        state.removeOver([], at: clock.now())
        return try GroupView(
            state, as: .reader(description, in: ownProcess(), at: clock), capabilities: capabilities, location: "memory"
        )
    }

    /// Returns the order of a group, for a hub. Its replica keeps the latest effects from now on.
    package func order(of group: String, effectByteCount: Int) -> MemoryOrder {
        let store = store(of: group)
        store.replica.change { $0.keepEffects(byteCount: effectByteCount) }
        return MemoryOrder(store: store, capabilities: capabilities, clock: clock)
    }

    private var capabilities: Capabilities {
        Capabilities(
            backend: "memory",
            features: [
                .promptDeathNotice, .stoppedWritersTolerated, .linearizableReads, .resumableWatches, .previousValues,
                .deduplicatedRequests, .endingsOnFullDisk,
            ],
            durability: .memory, limits: limits)
    }

    private func store(of group: String) -> MemoryStore {
        stores.withLock { stores in
            if let store = stores[group]?.store { return store }
            stores = stores.filter { $0.value.store != nil }
            let store = MemoryStore(
                state: StoreState(limits: limits, historyByteCount: historyByteCount), clock: clock,
                executor: executor)
            stores[group] = Weak(store: store)
            return store
        }
    }
}

/// The order of a group in memory, on which a hub is built. It is removed with its last participant.
package final class MemoryOrder: LocalOrder {
    package let capabilities: Capabilities
    package let clock: any TimeSource
    package var replica: Replica { store.replica }
    package var incarnation: UInt64 { store.incarnation }

    private let store: MemoryStore

    init(store: MemoryStore, capabilities: Capabilities, clock: any TimeSource) {
        self.store = store
        self.capabilities = capabilities
        self.clock = clock
    }

    package func refresh() async throws(SharedCoreError) {
        store.expire()
    }

    package func record(_ request: OrderRequest) async throws(SharedCoreError) -> Recorded {
        Recorded(outcome: try store.record(request))
    }

    /// Does nothing, because the participants of this process end their sessions themselves.
    package func endDead() async throws(SharedCoreError) {}
}
