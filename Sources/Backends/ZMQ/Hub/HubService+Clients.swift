internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Whose session the hub keeps, and when it ends.
extension HubService {
    /// The sessions that an earlier hub of the group has left: their clients come again. Each gets a full lease.
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
            // Whose end cannot be seen from here, as from another namespace, has a lease.
            let client = HubClient(
                session: state.session.id, token: mark.token, process: process,
                // Its client counts on the one that it was told, also where this hub gives others another.
                lease: mark.lease ?? options.lease, isLeased: process == nil)
            keep(client)
            if isDead { end(client) }
        }
    }

    private func visibleIdentity(of session: Session, _ mark: SessionMark) -> ProcessIdentity? {
        guard mark.processNamespace == ProcessIdentity.currentNamespace, mark.processNamespace != 0,
            session.process.bootID == order.clock.bootID
        else { return nil }
        // The system knows the process by the real run of the machine, of which a test may play another.
        return ProcessIdentity(
            bootID: ProcessIdentity.current.bootID, pid: session.process.pid, startTime: session.process.startTime)
    }

    func keep(_ client: HubClient) {
        clients[client.session] = client
        if let process = client.process {
            do throws(SystemCallError) {
                try ends.add(process.descriptor, key: client.session.rawValue)
            } catch {
                // Its end would not be heard of.
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
        // One whose end is not recorded yet: what ends it must not take the connection from this one.
        addresses[address]?.address = nil
        client.address = address
        client.nonce = .random()
        addresses[address] = client
        doors[address.door].network?.admit(address.connection)
    }

    // MARK: - Connections over a network

    func lineOpened(_ connection: RelayedConnection, _ socket: Socket, at door: Int) {
        guard !isStopped, (try? thread.watch(socket.descriptor)) != nil else { return }
        duty.sockets.append(socket)
        doors[door].network?.add(connection, socket)
    }

    func lineDrained(_ connection: RelayedConnection, at door: Int) {
        guard !isStopped else { return }
        doors[door].network?.drained(connection)
    }

    /// A connection is over, and with it what it was known for: its client comes again over another one, and says
    /// hello.
    func lineClosed(_ connection: RelayedConnection, at door: Int) {
        guard !isStopped else { return }
        let address = HubAddress(door: door, connection: NetworkEntrance.name(of: connection))
        refusalReports.forget(address)
        addresses.removeValue(forKey: address)?.address = nil
        // What its subscriptions and the news for it took is not known.
        let byteCount =
            connection.channel == .stream
            ? HeapReturn.byteCount
            : connection.unsettled + (doors[door].network?.waitingByteCount(for: connection) ?? 0)
        heap.use(byteCount + HeapReturn.connectionByteCount, at: runningClock.now())
        guard let socket = doors[door].network?.remove(connection) else { return }
        thread.forget(socket.descriptor)
        duty.sockets.removeAll { $0 === socket }
    }

    /// The process of a client has ended.
    func clientEnded(_ session: SessionID) {
        guard let client = clients[session] else { return }
        end(client)
    }

    /// Ends a client's session. Whoever was before us in ending it is as good. What cannot be recorded now, as on a
    /// full disk, is tried again.
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
        forget(client)
        publishNews()
    }

    /// Counts down the leases by the time that the hub was running, after what has come was taken in; and ends again
    /// who could not be ended.
    func countLeases() {
        let now = runningClock.now()
        guard let elapsed = leaseTime.count(at: now) else { return }
        for client in clients.values {
            if let left = client.leaseLeft, !mayBeUnheard(client) { client.leaseLeft = left - elapsed }
            if client.mustEnd || client.leaseLeft.map({ $0 <= .zero }) ?? false { end(client) }
        }
    }

    /// Whether what keeps a client's lease may have come and wait to be read, for as long as others send much.
    private func mayBeUnheard(_ client: HubClient) -> Bool {
        guard let address = client.address, !FailPoint.fails("hub.unheard") else { return false }
        // At a socket for all, what waits may be of any client.
        return doors[address.door].network.map { $0.hasUnread(address.connection) } ?? intake.isFull
    }
}

/// A session that the hub keeps for a client. Whoever acts for the hub uses it, one at a time.
final class HubClient {
    let session: SessionID
    let token: [UInt8]
    /// The client's process, when the hub can see its end.
    let process: ProcessHandle?
    /// How long the session stands without a word of the client, where its end cannot be seen.
    let lease: Duration
    /// What is left of the lease, in the hub's own running time; nil when the hub sees the client's end.
    var leaseLeft: Duration?
    /// From when on a keep-alive is answered before other requests.
    var nextConfirmation = BootInstant(nanoseconds: 0)
    /// Whether its session is over and only to be recorded as such, and whether that is being done.
    var mustEnd = false
    var isEnding = false
    /// Where the client's connection arrives; nil as long as it has not come again.
    var address: HubAddress?
    /// The key of its latest connection over a network; nil where there was none since this hub has begun.
    var key: String?
    /// What it may do, by that key.
    var rights = ClientRights.participate
    /// What that connection's requests carry.
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

    /// Begins the lease anew. What is counted next may have passed before this, so it gets that much more.
    func renewLease() {
        leaseLeft = lease + LeaseTime.longestInterval
    }
}

/// Where a connection arrives: the endpoint's number, and what the library calls the connection.
struct HubAddress: Hashable {
    let door: Int
    let connection: [UInt8]
}

/// The time that the hub was running, in which leases are counted: a hub that was stopped, or a machine that slept, has
/// heard nobody meanwhile, which proves nothing.
struct LeaseTime {
    /// How often leases are counted down.
    static let interval = Duration.milliseconds(250)
    /// The most that one look counts: what is beyond is a stop.
    static let longestInterval = Duration.milliseconds(500)

    private var last: BootInstant

    init(from start: BootInstant) {
        last = start
    }

    /// What has passed since the last time that something was counted; nil when it is too early to count again.
    mutating func count(at now: BootInstant) -> Duration? {
        let passed = last.duration(to: now)
        guard passed >= Self.interval else { return nil }
        last = now
        return min(passed, Self.longestInterval)
    }
}
