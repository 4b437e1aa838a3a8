internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Answers the clients' requests.
extension HubService {
    func answer(_ message: IncomingMessage, from address: HubAddress) async {
        // The connection has ended, and the client repeats its requests over the next one.
        guard isThere(address) else { return }
        let request: Request
        do throws(SharedCoreError) {
            guard message.frames.count == 2, !message.isTooLong else {
                throw Wire.malformed("it is not one frame")
            }
            request = try Request(message.frames[1])
        } catch {
            report(error, to: address)
            let number = message.frames.count > 1 ? Request.number(of: message.frames[1]) : 0
            return send(Reply(number: number, body: .refused(error)), to: address)
        }
        do throws(SharedCoreError) {
            switch request.body {
            case .hello(let hello):
                guard hears(hello) else { return }
                let welcome = try await welcome(hello, of: message.peer, at: address)
                return send(Reply(number: request.number, body: .welcome(welcome)), to: address)
            case .view(let group):
                return try await show(group, request.number, to: message.peer, at: address)
            default: break
            }
        } catch {
            report(error, to: address)
            return send(Reply(number: request.number, body: .refused(error)), to: address)
        }
        guard let client = addresses[address],
            client.nonce.isSame(as: request.nonce) || FailPoint.fails("hub.nonce")
        else {
            return send(Reply(number: request.number, body: .unknown), to: address)
        }
        // The lease is over, and any other answer would make the client count on it for longer. After `unknown` the
        // client sends a hello, and the answer tells it that the session is over.
        if client.mustEnd, client.leaseLeft != nil, request.body != .close, !FailPoint.fails("hub.lateAnswer") {
            return send(Reply(number: request.number, body: .unknown), to: address)
        }
        do throws(SharedCoreError) {
            try await answer(request, of: client, at: address, taking: message.byteCount)
        } catch {
            send(Reply(number: request.number, body: .refused(error)), to: address)
        }
    }

    /// The largest number of clients that are told of a commit before it is answered. Updates are sent to one client
    /// after another: with more clients the committing client would wait for all of them, while a delay of one answer
    /// is not noticeable to the others.
    private static let fewClients = 8

    private func answer(
        _ request: Request, of client: HubClient, at address: HubAddress, taking byteCount: Int
    ) async throws(SharedCoreError) {
        switch request.body {
        case .hello, .view: break
        case .keepAlive: send(Reply(number: request.number, body: .done), to: address)
        case .commit(let transaction, let known):
            try client.rights.require(for: transaction)
            let room = FailPoint.fails("hub.room") ? nil : order.room(for: transaction)
            if let room, room.make != nil {
                return try commitLater(
                    transaction, request.number, known, of: client, at: address, taking: byteCount, room)
            }
            do throws(SharedCoreError) {
                try await commit(transaction, request.number, known, of: client, at: address)
            } catch {
                guard error.code == .storageFull, let room else { throw error }
                try commitLater(
                    transaction, request.number, known, of: client, at: address, taking: byteCount, room, after: error)
            }
        case .read(let known):
            try await order.refresh()
            replyCurrent(to: request.number, known, at: address)
        case .probe(let known):
            try await order.endDead()
            try await order.refresh()
            replyCurrent(to: request.number, known, at: address)
        case .catchUp(let revision):
            try await order.refresh()
            try catchUp(request.number, after: revision, at: address)
        case .history(let revision):
            try await order.refresh()
            try tellHistory(request.number, after: revision, at: address)
        case .keepBaton(let bytes, let epoch, let lifetime):
            try await keep(bytes, of: epoch, for: lifetime, request.number, of: client, at: address)
        case .fetchBaton(let epoch, let own):
            try await fetchBaton(of: epoch, under: own, request.number, of: client, at: address)
        case .close:
            try await finish(client)
            send(Reply(number: request.number, body: .done), to: address)
        }
    }

    /// If a group has this many notification names, a client that may only post cannot add another one. Names with a
    /// state word are never removed, so such clients could otherwise use up all names.
    private static let postedNameLimit = 1_024

    /// The bytes of requests, of all clients, that may wait for room, and the overhead of each beside its message.
    private static let delayedByteLimit = 64 << 20
    private static let delayedRequestByteCount = 1 << 10

    /// Commits for a client when there is room, and answers other requests meanwhile: a request that needs no room,
    /// such as an owner's release, does not wait for it. A commit that a full disk refuses is tried once more when a
    /// compaction has freed room.
    ///
    /// - Parameter refusal: The error with which the transaction was refused already; nil when it was not tried.
    private func commitLater(
        _ transaction: Transaction, _ number: UInt64, _ known: Revision, of client: HubClient, at address: HubAddress,
        taking messageByteCount: Int, _ room: OrderRoom, after refusal: SharedCoreError? = nil
    ) throws(SharedCoreError) {
        let byteCount = messageByteCount + Self.delayedRequestByteCount
        guard delayedByteCount + byteCount <= Self.delayedByteLimit else {
            throw refusal
                ?? SharedCoreError(
                    .unavailable, "Too much waits for the group's journal to be compacted.", at: "transaction")
        }
        delayedByteCount += byteCount
        hubListeners[address.hubListener].network?.hold(byteCount, of: address.connection)
        Task {
            var refusal = refusal
            if refusal == nil {
                await room.make?()
                refusal = await tryToCommit(transaction, number, known, of: client, at: address)
            }
            if refusal?.code == .storageFull, await room.regain() {
                refusal = await tryToCommit(transaction, number, known, of: client, at: address)
            }
            delayedByteCount -= byteCount
            hubListeners[address.hubListener].network?.release(byteCount, of: address.connection)
            if let refusal { send(Reply(number: number, body: .refused(refusal)), to: address) }
            publishUpdates()
        }
    }

    /// Commits for a client that is still connected; returns the error if that fails.
    private func tryToCommit(
        _ transaction: Transaction, _ number: UInt64, _ known: Revision, of client: HubClient, at address: HubAddress
    ) async -> SharedCoreError? {
        guard !isStopped, addresses[address] === client else { return nil }
        do throws(SharedCoreError) {
            try await commit(transaction, number, known, of: client, at: address)
            return nil
        } catch {
            return error
        }
    }

    private func commit(
        _ transaction: Transaction, _ number: UInt64, _ known: Revision, of client: HubClient, at address: HubAddress
    ) async throws(SharedCoreError) {
        let recorded = try await order.record(
            .commit(
                transaction, of: client.session, delivery: FailPoint.fails("hub.delivery") ? nil : number,
                nameLimit: client.rights == .post ? Self.postedNameLimit : nil))
        endBaton()
        FailPoint.hit("hub.afterRecord")
        let isAnsweredFirst = recorded.settle == nil && clients.count > Self.fewClients
        if !isAnsweredFirst { publishNewsSoon() }
        FailPoint.hit("hub.beforeReply")
        guard let settle = recorded.settle else {
            reply(recorded.outcome, to: number, known, at: address)
            if isAnsweredFirst { publishNewsSoon() }
            return
        }
        // Answer from a separate task, so that other requests are served meanwhile: one sync of the disk then serves
        // all waiting commits.
        Task {
            do throws(SharedCoreError) {
                try await settle()
                self.reply(recorded.outcome, to: number, known, at: address)
            } catch {
                self.send(Reply(number: number, body: .refused(error)), to: address)
            }
        }
    }

    private func reply(_ outcome: RequestOutcome, to number: UInt64, _ known: Revision, at address: HubAddress) {
        let revision = order.replica.read { $0.revision }
        send(Reply(number: number, body: .outcome(outcome, at: revision, updates(after: known))), to: address)
    }

    private func replyCurrent(to number: UInt64, _ known: Revision, at address: HubAddress) {
        publishUpdates()
        let revision = order.replica.read { $0.revision }
        send(Reply(number: number, body: .current(revision, updates(after: known))), to: address)
    }

    /// Returns the updates that a client lacks, if they are few; others arrive by the stream.
    private func updates(after known: Revision) -> Updates {
        let updates = try? order.replica.read { state throws(SharedCoreError) -> Updates? in
            guard let missing = state.effects?.elements(after: known), missing.count <= Self.updatesLimit else {
                return nil
            }
            return try state.updates(after: known)
        }
        return (updates ?? nil) ?? Updates(after: known)
    }

    func isThere(_ address: HubAddress) -> Bool {
        hubListeners[address.hubListener].network?.isThere(address.connection) ?? true
    }

    /// Returns whether a long answer should be prepared. It would be dropped if too many answers wait for the client
    /// already; the client then repeats the request.
    func takesAnswers(_ address: HubAddress) -> Bool {
        hubListeners[address.hubListener].network?.takesAnswers(address.connection) ?? true
    }

    /// Sends the changes after a revision, or the whole state if they are no longer kept.
    private func catchUp(_ number: UInt64, after known: Revision?, at address: HubAddress) throws(SharedCoreError) {
        publishUpdates()
        guard takesAnswers(address) else { return }
        if FailPoint.fails("hub.state") { return }
        let (revision, updates, records) = try order.replica.read { state throws(SharedCoreError) in
            if let known, known <= state.revision, let updates = try state.updates(after: known) {
                return (state.revision, Optional(updates), [[UInt8]]())
            }
            var records: [[UInt8]] = []
            try state.writeSnapshot(for: .replica(historyAfter: known)) { records.append($0) }
            return (state.revision, nil, records)
        }
        if let updates {
            send(Reply(number: number, body: .current(revision, updates)), to: address)
        } else {
            send(Reply(number: number, body: .snapshot(revision)), records, to: address)
        }
    }

    /// Sends the whole state to a reader, of which the hub keeps no record.
    private func show(
        _ group: String, _ number: UInt64, to peer: PeerAddress, at address: HubAddress
    ) async throws(SharedCoreError) {
        try requireOwn(group, of: peer, at: address)
        _ = try rights(of: peer, at: address)
        // A connection without a hello is closed after a short time. Admit this one, because the answer may take
        // longer.
        hubListeners[address.hubListener].network?.admit(address.connection)
        guard takesAnswers(address) else { return }
        try await order.endDead()
        try await order.refresh()
        let (revision, records) = try order.replica.read { state throws(SharedCoreError) in
            var records: [[UInt8]] = []
            try state.writeSnapshot(for: .replica(historyAfter: nil)) { records.append($0) }
            return (state.revision, records)
        }
        send(Reply(number: number, body: .view(revision, promises(at: nil))), records, to: address)
    }

    /// Sends the changes after a revision, as far back as they are kept.
    private func tellHistory(_ number: UInt64, after known: Revision, at address: HubAddress) throws(SharedCoreError) {
        guard takesAnswers(address) else { return }
        let (revision, records) = try order.replica.read { state throws(SharedCoreError) in
            var records: [[UInt8]] = []
            try state.writeHistory(after: known) { records.append($0) }
            return (state.revision, records)
        }
        send(Reply(number: number, body: .history(revision)), records, to: address)
    }

    /// Sends an answer. If it cannot be sent, the client repeats its request.
    func send(_ reply: Reply, _ records: [[UInt8]] = [], to address: HubAddress) {
        guard !isStopped else { return }
        var frame = reply.frame(records: records)
        if frame.byteCount > options.answerByteLimit {
            let refusal = SharedCoreError(
                .limitExceeded,
                "An answer has at most \(options.answerByteLimit) bytes, and one with the group's state has \(frame.byteCount).",
                at: "store")
            frame = Reply(number: reply.number, body: .refused(refusal)).frame()
        }
        heap.use(frame.byteCount, at: runningClock.now())
        hubListeners[address.hubListener].send(frame, to: address.connection)
    }

    private func report(_ error: SharedCoreError, to address: HubAddress) {
        // The normal end of a session is not worth a report: the client may send a hello before it gets the answer to
        // its close.
        guard let onRefusal = options.onRefusal, error.code != .sessionEnded else { return }
        if let report = refusalReports.report(error, to: address, at: runningClock.now()) { onRefusal(report) }
    }
}

extension ClientRights {
    /// Refuses the roles Main and Executor to a key without all rights: other participants take such sessions for
    /// participants in the ownership.
    func require(forRole role: SessionRole) throws(SharedCoreError) {
        guard self != .participate, role == .main || role == .executor else { return }
        throw SharedCoreError(
            .forbidden,
            "The rights of this client's key are “\(rawValue)”, and a session of the role “\(role)” needs “participate”.",
            at: "session")
    }

    /// Refuses a session that has more than these rights allow: its role, or entries that live with it, such as the
    /// record of an owner.
    func require(for state: SessionState) throws(SharedCoreError) {
        try require(forRole: state.session.role)
        guard self != .participate, state.hasEntries else { return }
        throw SharedCoreError(
            .forbidden,
            "The rights of this client's key are “\(rawValue)”, and a session with entries of its own needs “participate”.",
            at: "session")
    }

    /// Refuses a transaction that these rights do not allow.
    fileprivate func require(for transaction: Transaction) throws(SharedCoreError) {
        let isAllowed =
            switch self {
            // The result of a request with a number is recorded, with the state that its guard has found.
            case .read: transaction.operations.isEmpty && transaction.requestNumber == nil
            case .post:
                transaction.operations.allSatisfy { if case .post = $0 { true } else { false } }
                    && (transaction.requestNumber == nil
                        || (!transaction.operations.isEmpty && transaction.guards.isEmpty))
            case .participate: true
            }
        guard !isAllowed else { return }
        throw SharedCoreError(
            .forbidden,
            "The rights of this client's key are “\(rawValue)”; the hub's list of clients gives others, as “rights=participate”.",
            at: "transaction")
    }
}
