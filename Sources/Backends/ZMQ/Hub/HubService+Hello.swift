internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Admits clients.
extension HubService {
    /// Refuses other groups, and other users.
    func requireOwn(_ group: String, of peer: PeerAddress, at address: HubAddress) throws(SharedCoreError) {
        guard group == options.group else {
            throw SharedCoreError(
                .forbidden,
                "This hub serves the group “\(options.group)”, not “\(SessionDescription.cut(group))”.",
                at: "\(hubListeners[address.hubListener].endpoint)")
        }
        if let process = peer.process, process.user != FileStatus.currentUser {
            throw SharedCoreError(
                .forbidden, "The hub belongs to user \(FileStatus.currentUser), and this is user \(process.user).",
                at: "\(hubListeners[address.hubListener].endpoint)")
        }
    }

    func welcome(
        _ hello: Request.Hello, of peer: PeerAddress, at address: HubAddress
    ) async throws(SharedCoreError) -> Reply.Welcome {
        try requireOwn(hello.group, of: peer, at: address)
        let rights = try rights(of: peer, at: address)
        try rights.require(forRole: hello.description.role)
        let client = try await client(for: hello, of: peer, at: address)
        guard let state = order.replica.read({ $0.sessions[client.session] }) else {
            forget(client)
            throw .sessionEnded(client.session)
        }
        // A resumed session keeps its role and its entries, but the rights of the key may have changed since they were
        // written.
        try rights.require(for: state)
        guard isThere(address) else {
            throw SharedCoreError(
                .unavailable, "The connection is over.", at: "\(hubListeners[address.hubListener].endpoint)")
        }
        if client.leaseLeft != nil { client.renewLease() }
        bind(client, to: address)
        client.key = peer.user
        client.rights = rights
        return Reply.Welcome(
            session: state.session, incarnation: incarnation, capabilities: promises(at: address.hubListener),
            lease: client.leaseLeft.map { _ in client.lease }, streamPort: hubListeners[address.hubListener].streamPort,
            nonce: client.nonce)
    }

    /// Returns the rights of a connection's key; all rights where connections have no keys.
    func rights(of peer: PeerAddress, at address: HubAddress) throws(SharedCoreError) -> ClientRights {
        guard hubListeners[address.hubListener].network != nil else { return .participate }
        guard let key = peer.user, let rights = try Authenticator.shared().rights(of: key, in: domain) else {
            throw SharedCoreError(
                .forbidden, "The key is not among those that are let in.",
                at: "\(hubListeners[address.hubListener].endpoint)")
        }
        return rights
    }

    /// Returns the client of a hello: the one of its session, or a new one.
    private func client(
        for hello: Request.Hello, of peer: PeerAddress, at address: HubAddress
    ) async throws(SharedCoreError) -> HubClient {
        if let resumed = hello.resumed {
            guard let client = clients[resumed], client.token.isSame(as: hello.token) || FailPoint.fails("hub.token")
            else { throw .sessionEnded(resumed) }
            try requireNoOther(than: client, at: address)
            guard client.mustEnd else { return client }
            if FailPoint.fails("hub.unrecordedEnd") { throw .sessionEnded(resumed) }
            // Do not answer `sessionEnded`: the client would stop to reconnect, and a later hub would keep the session.
            throw SharedCoreError(
                .unavailable, "The session is over, but its end could not be recorded yet.",
                at: "\(hubListeners[address.hubListener].endpoint)")
        }
        // A hello that is repeated because the first was not answered is of the same client, even over another
        // connection or to another hub.
        if let client = clients.values.first(where: { $0.token.isSame(as: hello.token) }), !client.mustEnd {
            try requireNoOther(than: client, at: address)
            return client
        }
        try requireNoOther(than: nil, at: address)
        try requireFewAway(of: peer, at: address)
        let isHere = isOfThisProcess(address)
        let process = isHere ? nil : visibleProcess(of: hello, peer)
        let mark = SessionMark(
            token: hello.token,
            processNamespace: isHere || process != nil ? ProcessIdentity.currentNamespace : 0, lease: options.lease)
        let seen = process?.identity ?? (isHere ? .current : nil)
        let opening = SessionOpening(
            process: seen.map { ProcessIdentity(bootID: order.clock.bootID, pid: $0.pid, startTime: $0.startTime) }
                ?? hello.process.unproved,
            description: hello.description, backendData: mark.bytes)
        let recorded = try await order.record(.join(opening))
        let revision = try recorded.outcome.get().revision
        let client = HubClient(
            session: SessionID(rawValue: revision.rawValue), token: mark.token, key: peer.user, process: process,
            lease: options.lease, isLeased: mark.isLeased)
        keep(client)
        publishUpdates()
        do throws(SharedCoreError) {
            if let settle = recorded.settle { try await settle() }
            guard clients[client.session] === client else { throw .sessionEnded(client.session) }
        } catch {
            end(client)
            throw error
        }
        return client
    }

    /// Refuses a hello over a connection that has a living session, unless it resumes that session.
    private func requireNoOther(than client: HubClient?, at address: HubAddress) throws(SharedCoreError) {
        guard let present = addresses[address], !present.mustEnd, present !== client
        else { return }
        throw SharedCoreError(
            .invalidArgument, "This connection has a session already.",
            at: "\(hubListeners[address.hubListener].endpoint)")
    }

    /// The maximum number of sessions of one key without a connection. Each such session takes memory in all
    /// participants until its lease ends, which cannot be shortened because the client relies on it.
    static let awaySessionLimit = 256

    /// Refuses another session of a key that has left too many sessions behind.
    private func requireFewAway(of peer: PeerAddress, at address: HubAddress) throws(SharedCoreError) {
        guard hubListeners[address.hubListener].network != nil, let key = peer.user,
            clients.values.count(where: { $0.key == key && $0.address == nil }) >= Self.awaySessionLimit
        else { return }
        throw SharedCoreError(
            .limitExceeded,
            "\(Self.awaySessionLimit) sessions of this client's key have no connection. Each ends with its lease; then "
                + "another one can begin.", at: "\(hubListeners[address.hubListener].endpoint)")
    }

    private func isOfThisProcess(_ address: HubAddress) -> Bool {
        if case .inproc = hubListeners[address.hubListener].endpoint { true } else { false }
    }

    /// Returns the process at the other end according to the kernel, if it is the one that the client claims to be.
    private func visibleProcess(of hello: Request.Hello, _ peer: PeerAddress) -> ProcessHandle? {
        guard let found = peer.process, hello.process.bootID == ProcessIdentity.current.bootID else { return nil }
        return try? ProcessHandle(
            ProcessIdentity(bootID: hello.process.bootID, pid: found.pid, startTime: hello.process.startTime))
    }
}

extension ProcessIdentity {
    /// The process that the client claims to be, without proof. If the claim names this boot of this machine, it is
    /// recorded without a boot id, as a process of another machine.
    fileprivate var unproved: ProcessIdentity {
        guard bootID == ProcessIdentity.current.bootID else { return self }
        return ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: pid, startTime: startTime)
    }
}
