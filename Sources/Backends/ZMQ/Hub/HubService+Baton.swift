internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Keeps the bytes of a call that moves from one client to another.
///
/// Source: contract C25.
extension HubService {
    /// Returns what the group promises to a client of the hub.
    ///
    /// - Parameter hubListener: The listener to which the client is connected; nil for a reader, which has no session.
    func promises(at hubListener: Int?) -> Capabilities {
        var features = order.capabilities.features
        // The store behind the hub may have this feature, but clients of the hub cannot use it.
        features.remove(.batonBytes)
        if let hubListener, keepsBatons(at: hubListener), !FailPoint.fails("hub.batonBytes") {
            features.insert(.batonBytes)
        }
        return Capabilities(
            backend: order.capabilities.backend, features: features, durability: order.capabilities.durability,
            limits: order.capabilities.limits, wakeUp: order.capabilities.wakeUp)
    }

    /// Returns true if the hub keeps batons for the clients of an endpoint. The clients of an `inproc` endpoint are in
    /// one process, and need no hub for it.
    private func keepsBatons(at hubListener: Int) -> Bool {
        if case .inproc = hubListeners[hubListener].endpoint { false } else { true }
    }

    /// Keeps a baton for the next owner.
    func keep(
        _ bytes: [UInt8], of epoch: Revision, for lifetime: Duration, _ number: UInt64, of client: HubClient,
        at address: HubAddress
    ) async throws(SharedCoreError) {
        try client.rights.requireParticipation()
        try await order.refresh()
        publishUpdates()
        guard !isStopped else { return }
        try baton.keep(bytes, of: epoch, for: lifetime, by: client.session, in: ownership())
        send(Reply(number: number, body: .done), to: address)
    }

    /// Sends a baton to the client that owns while the baton is offered.
    func fetchBaton(
        of epoch: Revision, under own: Revision, _ number: UInt64, of client: HubClient, at address: HubAddress
    ) async throws(SharedCoreError) {
        try client.rights.requireParticipation()
        guard takesAnswers(address) else { return }
        try await order.refresh()
        publishUpdates()
        let bytes = try baton.fetch(of: epoch, under: own, by: client.session, in: ownership())
        send(Reply(number: number, body: .baton(bytes)), to: address)
    }

    /// Drops the baton if the present entries show that no owner needs it. If the entries cannot be read, the next
    /// check decides.
    func endBaton() {
        guard !baton.isEmpty, let ownership = try? ownership() else { return }
        baton.end(in: ownership)
    }

    private func ownership() throws(SharedCoreError) -> HubBaton.Ownership {
        try order.replica.read { state throws(SharedCoreError) in try HubBaton.Ownership(state) }
    }
}

extension ClientRights {
    /// Refuses a request that needs the right to participate.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden``.
    fileprivate func requireParticipation() throws(SharedCoreError) {
        guard self != .participate else { return }
        throw SharedCoreError(
            .forbidden,
            "The rights of this client's key are “\(rawValue)”, and a baton needs “participate”.", at: "baton")
    }
}
