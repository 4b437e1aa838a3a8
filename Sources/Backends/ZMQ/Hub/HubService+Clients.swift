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
            let client = HubClient(
                session: state.session.id, token: mark.token, process: handle(of: state.session, mark),
                lease: mark.isLeased ? options.lease : nil)
            if client.process == nil, !mark.isLeased, mark.processNamespace == ProcessIdentity.currentNamespace {
                end(client)
            } else {
                keep(client)
            }
        }
    }

    private func handle(of session: Session, _ mark: SessionMark) -> ProcessHandle? {
        guard mark.processNamespace == ProcessIdentity.currentNamespace, mark.processNamespace != 0,
            session.process.bootID == order.clock.bootID
        else { return nil }
        // The system knows the process by the real run of the machine, of which a test may play another.
        return try? ProcessHandle(
            ProcessIdentity(
                bootID: ProcessIdentity.current.bootID, pid: session.process.pid,
                startTime: session.process.startTime))
    }

    func keep(_ client: HubClient) {
        clients[client.session] = client
        if let process = client.process { try? ends.add(process.descriptor, key: client.session.rawValue) }
        if nextBeacon == nil { nextBeacon = runningClock.now().advanced(by: Self.beaconInterval) }
    }

    func forget(_ client: HubClient) {
        clients[client.session] = nil
        if let address = client.address { addresses[address] = nil }
        if let process = client.process { ends.remove(process.descriptor) }
    }

    func bind(_ client: HubClient, to address: HubAddress) {
        if let former = client.address { addresses[former] = nil }
        client.address = address
        addresses[address] = client
    }

    /// The process of a client has ended.
    func clientEnded(_ session: SessionID) {
        guard let client = clients[session] else { return }
        end(client)
    }

    /// Ends a client's session. Whoever was before us in ending it is as good.
    func end(_ client: HubClient) {
        forget(client)
        let session = client.session
        Task { [order] in
            _ = try? await order.record(Self.ending(session))
            self.publishNews()
        }
    }

    static func ending(_ session: SessionID) -> Judge {
        { state, now in
            guard let effect = state.ending(session, at: now) else {
                return .answer(.committed(Commit(revision: state.revision, changed: false)))
            }
            return .record(effect, .committed(Commit(revision: effect.revision, changed: true)))
        }
    }

    /// Counts down the leases by the time that the hub was running. What has come meanwhile is taken in before anybody is
    /// ended.
    func countLeases() {
        // A message that waits may be anybody's.
        guard let elapsed = runningTime.count(at: runningClock.now()), intake.isEmpty else { return }
        for client in clients.values {
            guard let left = client.leaseLeft else { continue }
            client.leaseLeft = left - elapsed
            if left - elapsed <= .zero { end(client) }
        }
    }
}
