internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Keeps the clients' sessions, and ends them.
extension HubService {
    /// Takes over the sessions that an earlier hub of the group has left: their clients reconnect. Each gets a full
    /// lease.
    func takeOverSessions() {
        let left = order.replica.read { state in Array(state.sessions.values) }
        for state in left {
            guard let mark = SessionMark(state.backendData), mark.lockedByte == nil else { continue }
            var process: ProcessHandle?
            var isDead = false
            if let identity = visibleIdentity(of: state.session, mark) {
                do throws(ProcessUnreachable) {
                    process = try ProcessHandle(identity)
                } catch {
                    if case .dead = error { isDead = true }
                }
            }
            // A session has a lease if its process cannot be seen from here, as in another namespace.
            let client = HubClient(
                session: state.session.id, token: mark.token, process: process,
                // The client relies on the lease of its welcome, even if this hub gives another lease to other clients.
                lease: mark.lease ?? options.lease, isLeased: process == nil)
            keep(client)
            if isDead { end(client) }
        }
    }

    private func visibleIdentity(of session: Session, _ mark: SessionMark) -> ProcessIdentity? {
        guard mark.processNamespace == ProcessIdentity.currentNamespace, mark.processNamespace != 0,
            session.process.bootID == order.clock.bootID
        else { return nil }
        // The kernel knows the process by the machine's real boot id; a test may use another.
        return ProcessIdentity(
            bootID: ProcessIdentity.current.bootID, pid: session.process.pid, startTime: session.process.startTime)
    }

    func keep(_ client: HubClient) {
        clients[client.session] = client
        if let process = client.process {
            do throws(SystemCallError) {
                try ends.add(process.descriptor, key: client.session.rawValue)
            } catch {
                // Without this descriptor, the hub would not notice the end of the process.
                client.renewLease()
            }
        }
        if nextBeacon == nil { nextBeacon = runningClock.now().advanced(by: Self.beaconInterval) }
    }

    func forget(_ client: HubClient) {
        clients[client.session] = nil
        if let address = client.address { addresses[address] = nil }
        if let process = client.process { ends.remove(process.descriptor) }
    }

    func bind(_ client: HubClient, to address: HubAddress) {
        if let former = client.address { addresses[former] = nil }
        // The former client of this address has ended, but the end of its session is not recorded yet. Detach it, so
        // that its end does not close the connection of the present client.
        addresses[address]?.address = nil
        // A client repeats its hello until it has a welcome. Keep the nonce, so that the requests that it sends after
        // either welcome are valid.
        if client.address != address { client.nonce = .random() }
        client.address = address
        addresses[address] = client
        hubListeners[address.hubListener].network?.admit(address.connection)
    }

    // MARK: - Connections over a network

    func lineOpened(_ connection: RelayedConnection, _ socket: Socket, at hubListener: Int) {
        guard !isStopped, (try? thread.watch(socket.descriptor)) != nil else { return }
        pollSource.sockets.append(socket)
        hubListeners[hubListener].network?.add(connection, socket)
    }

    func lineDrained(_ connection: RelayedConnection, at hubListener: Int) {
        guard !isStopped else { return }
        hubListeners[hubListener].network?.drained(connection)
    }

    /// Forgets a connection that has ended. Its client reconnects over another one, and sends a hello.
    func lineClosed(_ connection: RelayedConnection, at hubListener: Int) {
        guard !isStopped else { return }
        let address = HubAddress(hubListener: hubListener, connection: NetworkEntrance.name(of: connection))
        refusalReports.forget(address)
        addresses.removeValue(forKey: address)?.address = nil
        // The memory of a stream connection's subscriptions and updates is not known, so count enough for a return.
        let byteCount =
            connection.channel == .stream
            ? HeapReturn.byteCount
            : connection.unsettled + (hubListeners[hubListener].network?.waitingByteCount(for: connection) ?? 0)
        heap.use(byteCount + HeapReturn.connectionByteCount, at: runningClock.now())
        guard let socket = hubListeners[hubListener].network?.remove(connection) else { return }
        thread.forget(socket.descriptor)
        pollSource.sockets.removeAll { $0 === socket }
    }

    /// Ends the session of a client after its process has ended.
    func clientEnded(_ session: SessionID) {
        guard let client = clients[session] else { return }
        end(client)
    }

    /// Ends a client's session. Succeeds if another process has ended it already. An end that cannot be recorded now,
    /// as on a full disk, is tried again.
    func end(_ client: HubClient) {
        guard !client.isEnding else { return }
        client.isEnding = true
        client.mustEnd = true
        Task {
            _ = try? await self.finish(client)
        }
    }

    /// Records the end of a client's session.
    func finish(_ client: HubClient) async throws(SharedCoreError) {
        client.isEnding = true
        client.mustEnd = true
        defer { client.isEnding = false }
        if FailPoint.fails("hub.ending") {
            throw SharedCoreError(SystemCallError("pwrite", number: 28, at: "hub.ending"))
        }
        _ = try await order.record(.end(client.session))
        endBaton()
        forget(client)
        publishUpdates()
    }

    /// Counts down the leases in the hub's running time, after arrived messages were received. Tries again to record
    /// ends of sessions that could not be recorded.
    func countLeases() {
        let now = runningClock.now()
        guard let elapsed = leaseTime.count(at: now) else { return }
        baton.count(elapsed)
        endBaton()
        for client in clients.values {
            if let left = client.leaseLeft, !mayBeUnheard(client) { client.leaseLeft = left - elapsed }
            if client.mustEnd || client.leaseLeft.map({ $0 <= .zero }) ?? false { end(client) }
        }
    }

    /// Returns whether a message that renews a client's lease may be waiting to be read, while other clients send much.
    private func mayBeUnheard(_ client: HubClient) -> Bool {
        guard let address = client.address, !FailPoint.fails("hub.unheard") else { return false }
        // At a socket for all clients, the waiting messages may be of any of them.
        return hubListeners[address.hubListener].network.map { $0.hasUnread(address.connection) } ?? intake.isFull
    }
}

/// A session that the hub keeps for a client. Used by the thread that acts for the hub, one at a time.
final class HubClient {
    let session: SessionID
    let token: [UInt8]
    /// The client's process, when the hub can see its end.
    let process: ProcessHandle?
    /// How long the session lasts without a message of the client, if its process cannot be seen.
    let lease: Duration
    /// The rest of the lease, in the hub's running time; nil if the hub sees the end of the client's process.
    var leaseLeft: Duration?
    /// The earliest time at which a keep-alive is answered before other requests.
    var nextConfirmation = BootInstant(nanoseconds: 0)
    /// True if the client's session is over but not recorded as such (`mustEnd`), and while that record is being
    /// written (`isEnding`).
    var mustEnd = false
    var isEnding = false
    /// The address of the client's connection; nil until the client has reconnected.
    var address: HubAddress?
    /// The key of its latest connection over a network; nil if it had none since this hub started.
    var key: String?
    /// Its rights, by that key.
    var rights = ClientRights.participate
    /// The nonce in that connection's requests.
    var nonce = ConnectionNonce.none

    init(
        session: SessionID, token: [UInt8], key: String? = nil, process: ProcessHandle?, lease: Duration, isLeased: Bool
    ) {
        self.session = session
        self.token = token
        self.key = key
        self.process = process
        self.lease = lease
        if isLeased { renewLease() }
    }

    /// Renews the lease. The next count includes time from before this renewal, so the lease is extended by that time.
    func renewLease() {
        leaseLeft = lease + LeaseTime.longestInterval
    }
}

/// The address of a connection: the endpoint's number, and the library's name for the connection.
struct HubAddress: Hashable {
    let hubListener: Int
    let connection: [UInt8]
}

/// The running time of a hub, in which leases are counted. While a hub is stopped or its machine sleeps, it receives
/// nothing, so silence in that time does not show that a client is gone.
struct LeaseTime {
    /// How often leases are counted down.
    static let interval = Duration.milliseconds(250)
    /// The longest time that one check counts: time beyond it was a stop of the hub.
    static let longestInterval = Duration.milliseconds(500)

    private var last: BootInstant

    init(from start: BootInstant) {
        last = start
    }

    /// Returns the time since the last count; nil when it is too early to count again.
    mutating func count(at now: BootInstant) -> Duration? {
        let passed = last.duration(to: now)
        guard passed >= Self.interval else { return nil }
        last = now
        return min(passed, Self.longestInterval)
    }
}
