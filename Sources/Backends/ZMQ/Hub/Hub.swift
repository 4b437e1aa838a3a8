public import CoreAPI
internal import FileNotifyBackend
internal import InMemoryBackend
internal import Platform
internal import Replica
internal import Synchronization

/// Serves one group over sockets. The group is in files or in memory of this machine.
///
/// ```swift
/// let hub = try await Hub.start(
///     HubOptions(
///         group: "chat", storage: .files(directory: "/var/lib/chat", FileGroupOptions()),
///         endpoints: [HubEndpoint("ipc:///run/user/1000/chat/hub")]))
/// ```
///
/// A group in files has one hub at most. Clients of an ended hub, however it ended, reconnect to the next one by
/// themselves; sessions go on when the group is in files. Releasing the last reference stops the hub.
public final class Hub: Sendable {
    /// The hub's endpoints, with the ports that the system chose.
    public let endpoints: [HubEndpoint]

    let service: HubService
    private let locks: [HubLock]
    private let isOnMemory: Bool
    private let isStopped = Atomic(false)

    init(endpoints: [HubEndpoint], service: HubService, locks: [HubLock], isOnMemory: Bool = false) {
        self.endpoints = endpoints
        self.service = service
        self.locks = locks
        self.isOnMemory = isOnMemory
    }

    deinit {
        guard !isStopped.load(ordering: .acquiring) else { return }
        Task { [service, locks, isOnMemory] in await Self.stop(service, locks, isOnMemory: isOnMemory) }
    }

    /// Starts a hub; clients can join when this returns.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when another hub serves the group or listens there,
    ///   ``SharedCoreError/Code/invalidArgument`` for a port without keys, for a lease that is too short, and for too
    ///   little memory for a client, and the errors of opening the group's files.
    public static func start(_ options: HubOptions) async throws(SharedCoreError) -> Hub {
        guard !options.endpoints.isEmpty else {
            throw SharedCoreError(.invalidArgument, "A hub needs an endpoint to listen at.", at: "endpoints")
        }
        for endpoint in options.endpoints where endpoint.isOverNetwork && options.keys == nil {
            throw SharedCoreError(
                .invalidArgument,
                "A hub that listens to a port needs keys: its own and those of the clients that it lets in. "
                    + "“sharedcore config keys” makes some, KeyFile.pair(ofGroup:) those for this machine.",
                at: "\(endpoint)")
        }
        for case .tcp(_, .max) in options.endpoints {
            throw SharedCoreError(
                .invalidArgument, "Behind port \(UInt16.max) there is none for the stream.", at: "endpoints")
        }
        guard options.lease >= HubOptions.shortestLease else {
            throw SharedCoreError(
                .invalidArgument, "A lease is \(HubOptions.shortestLease) at least, not \(options.lease).", at: "lease")
        }
        guard options.clientMemory >= HubOptions.leastClientMemory else {
            throw SharedCoreError(
                .invalidArgument,
                "A client's memory is \(HubOptions.leastClientMemory) bytes at least, not \(options.clientMemory).",
                at: "clientMemory")
        }
        // Each client takes three descriptors; the library aborts the process when none is left for a connection.
        SpareDescriptors.raiseLimit()
        var locks: [HubLock] = []
        do throws(SharedCoreError) {
            return try await start(options, with: &locks)
        } catch {
            // Release the locks, because they would look like those of a killed hub. No client was answered yet: every
            // step that can throw precedes the hub's first turn.
            for lock in locks { lock.release() }
            throw error
        }
    }

    private static func start(_ options: HubOptions, with locks: inout [HubLock]) async throws(SharedCoreError) -> Hub {
        var options = options
        for (index, endpoint) in options.endpoints.enumerated() {
            guard case .ipc(let given) = endpoint else { continue }
            let (lock, path) = try HubLock.ofSocket(given)
            locks.append(lock)
            options.endpoints[index] = try HubEndpoint("ipc://" + path)
        }
        let order: any LocalOrder
        switch options.storage {
        case .memory(let space):
            order = space.order(of: options.group, effectByteCount: options.effectByteCount)
        case .files(let directory, let fileOptions):
            order = try await FileOrder.open(
                directory: directory, options: fileOptions, effectByteCount: options.effectByteCount)
            if let lock = try HubLock.ofGroup(directory, beside: locks) { locks.append(lock) }
        }
        let isOnMemory = options.storage.isMemory
        let service = try HubService(
            order: order, options: options,
            followsClients: locks.contains { $0.former.hold(hubOnMemory: isOnMemory) })
        for lock in locks { lock.expectClients(onMemory: isOnMemory) }
        let endpoints = try await service.start()
        for lock in locks { lock.announce(onMemory: isOnMemory) }
        return Hub(endpoints: endpoints, service: service, locks: locks, isOnMemory: isOnMemory)
    }

    /// Replaces the clients that may connect over a network, or their rights.
    ///
    /// All connections at ports are cut, so that none goes on with a revoked key. Clients with an allowed key reconnect
    /// by themselves and keep their sessions; the sessions of the others end with their lease. Clients that are allowed
    /// already with the same rights change nothing.
    ///
    /// - Parameter clients: The public keys, with the rights of each. Without one, no client may connect.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when one of them is no key, or the hub was started without
    ///   keys.
    public func allow(_ clients: [String: ClientRights]) async throws(SharedCoreError) {
        for key in clients.keys { try CurveKeyPair.check(key, "public key of a client") }
        try await service.allow(clients)
    }

    /// Stops serving. Clients' sessions stay in a group of files, for the next hub.
    public func stop() async {
        await Self.stop(service, locks, isOnMemory: isOnMemory)
        isStopped.store(true, ordering: .releasing)
    }

    private static func stop(_ service: HubService, _ locks: [HubLock], isOnMemory: Bool) async {
        let (hadClients, hasOutlasted, hasFailed) = await service.stop()
        for lock in locks {
            // The group's files are gone, and with them the sessions of the hub's clients.
            if hadClients, hasFailed {
                lock.abandon()
                continue
            }
            var left = hasOutlasted ? lock.former.outlasted(byHubOnMemory: isOnMemory) : lock.former
            if hadClients, isOnMemory { left.ofMemory = true }
            if hadClients, !isOnMemory { left.ofFiles = true }
            lock.release(leaving: left)
        }
    }
}
