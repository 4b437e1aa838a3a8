internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// The work of the link each time its thread wakes.
extension HubLink {
    /// How many messages are taken before the clock is read again.
    private static let batchCount = 256
    /// The number of messages after which the resumed tasks are offered to the other thread.
    private static let offerCount = 32

    /// Receives messages, and does the work that is due.
    func turn() {
        while let event = events?.next() {
            if event == .ready, leavesUntrusted() { break }
            notice(event)
        }
        while let event = streamEvents?.next() {
            if event == .ready, leavesUntrusted() { break }
            guard event != .connected else { continue }
            isLost.stream = event != .ready
            connectAgainIfLost()
        }
        if case .ended = phase { return }
        var taken = 0
        while taken < Self.batchCount, let frame = requests?.nextFrame() {
            count(&taken)
            read(frame)
            if case .ended = phase { return }
        }
        while taken < Self.batchCount, let message = stream?.next(upTo: 1) {
            count(&taken)
            if let bytes = message.frames.first { hear(bytes) }
        }
        release()
        flush()
        meetDeadlines()
    }

    /// Closes the connection if another user may control the socket's path by now, for example after a directory of the
    /// path was removed: the library resolves the path by itself at each connection. The link reconnects later. Returns
    /// true if it has closed the connection.
    private func leavesUntrusted() -> Bool {
        do throws(SharedCoreError) {
            _ = try endpoint.trusted()
            return false
        } catch {
            closeSockets()
            lastTrouble = error.message
            nextConnection = clock.now().advanced(by: Self.lossTimeout)
            return true
        }
    }

    private func count(_ taken: inout Int) {
        if taken > 0, taken.isMultiple(of: Self.offerCount) { thread.offerDeliveries() }
        taken += 1
    }

    private func notice(_ event: ConnectionEvents.Event) {
        if event != .connected {
            isLost.requests = event != .ready
            connectAgainIfLost()
        }
        switch event {
        case .connected:
            // Keep the reason of an earlier failure, which is more precise.
            guard lastTrouble == nil else { return }
            lastTrouble =
                "something listens there and does not answer. A hub that a signal or a debugger has stopped goes on with "
                + "“kill -CONT” and is ended by “kill -KILL”; on its machine, “hub.lock” names its process"
        case .ready: greet()
        case .lost:
            switch phase {
            case .joined, .greeting: phase = .connecting
            default: break
            }
            sendTimes = [:]
            // Before the first welcome, the call that opens the group starts a hub itself.
            if welcome != nil { beginReplacing() }
            lastTrouble =
                welcome == nil && options.keys != nil
                ? "the connection was lost before the hub answered, as when it has another key than is configured for it"
                : "the connection was lost"
        case .refused:
            end(
                with: SharedCoreError(
                    .forbidden, "The hub does not let this client's key in: add its public key to the hub's list.",
                    at: "\(endpoint)"))
        case .misunderstood:
            lastTrouble = "the hub and this client do not agree on keys: both need CURVE, or neither"
        }
    }

    private func connectAgainIfLost() {
        guard isLost.requests || isLost.stream else {
            nextConnection = nil
            return
        }
        nextConnection = nextConnection ?? clock.now().advanced(by: Self.lossTimeout)
    }

    // MARK: - Answers

    private func read(_ frame: ReceivedFrame) {
        guard let answer = try? Answer(frame) else {
            lastTrouble = "the hub sent what is no answer of this protocol"
            return
        }
        let reply = answer.reply
        unansweredSince = nil
        let sentAt = sendTimes.removeValue(forKey: reply.number) ?? pending[reply.number]?.sentAt
        switch reply.body {
        case .welcome(let updates):
            welcomed(updates)
            return confirm(sentAt)
        case .unknown: return forgotten(reply.number)
        case .view(let revision, let capabilities):
            return viewed(answer.records, at: revision, capabilities)
        // This answer does not show whether the session exists.
        case .refused: break
        default: confirm(sentAt)
        }
        let isCatchUp = reply.number == catchUp
        if isCatchUp { catchUp = nil }
        defer {
            if isCatchUp, isHeardAnew {
                isHeardAnew = false
                askForMissing()
            }
        }
        if pending[reply.number] == nil, reply.body.isState {
            return takeMissing(reply.body, answer.records)
        }
        guard let request = pending[reply.number], request.held == nil else {
            if case .refused(let error) = reply.body {
                lastTrouble = error.message
                // The hub's files are damaged. Another request would get the same answer.
                if isCatchUp, replica == nil, error.code == .corrupt { giveUp(with: error) }
            }
            // A hub of another protocol version cannot read the request's number.
            if case .greeting = phase, case .refused(let error) = reply.body, [0, greeting].contains(reply.number) {
                notWelcomed(error)
            }
            return
        }
        switch reply.body {
        case .outcome(let outcome, let revision, let updates):
            FailPoint.hit("link.afterAnswer")
            apply(updates)
            switch outcome {
            case .committed(let commit): hold(request, reply.body, until: commit.revision)
            // Deliver the refusal only when the replica reflects the state against which the guard was checked.
            case .refused: hold(request, reply.body, until: revision)
            }
        case .current(let revision, let updates):
            apply(updates)
            hold(request, reply.body, until: revision)
        case .refused(let error): finish(request, with: .failure(error))
        case .done, .baton: finish(request, with: .success(reply.body))
        case .history(let revision):
            if extendHistory(with: answer.records, at: revision) {
                finish(request, with: .success(reply.body))
            }
        case .welcome, .unknown, .snapshot, .view: break
        }
        answered()
    }

    /// Renews the known lease: the hub has answered a message that was sent at that time, so the session lasts at least
    /// for a lease from then.
    private func confirm(_ sentAt: BootInstant?) {
        guard let lease, let sentAt else { return }
        confirmation.withLock {
            $0 = SessionLease(duration: lease, confirmedAt: max($0?.confirmedAt ?? sentAt, sentAt))
        }
    }

    /// Takes the view that a reader asked for.
    private func viewed(_ records: Answer.Records, at revision: Revision, _ capabilities: Capabilities) {
        guard isReader, view == nil else { return }
        guard let state = Self.state(of: records, capabilities.limits, options), state.revision == revision else {
            return end(with: Wire.malformed("its view is damaged"))
        }
        view = View(state: state, capabilities: capabilities)
        resumeJoining()
    }

    /// Notes that the hub answers requests.
    func answered() {
        greetingPause = Self.firstGreetingPause
        nextGreeting = isWaitingForHub ? clock.now().advanced(by: greetingPause) : nil
    }

    /// Queues a request to be sent again: the hub has not executed it, because it does not know the connection.
    private func forgotten(_ number: UInt64) {
        if let request = pending[number], request.sendCount == 1, request.held == nil {
            request.sendCount = 0
            unsent = (unsent + [number]).sorted()
        }
        if case .joined = phase { greet() }
    }

    /// Keeps an answer until the replica reflects it.
    private func hold(_ request: PendingRequest, _ reply: Reply.Body, until revision: Revision) {
        request.held = (reply, revision)
        announce(revision)
    }

    // MARK: - Time

    private func meetDeadlines() {
        let now = clock.now()
        for request in Array(pending.values) where request.deadline <= now {
            let fault = SharedCoreError(
                .unavailable, "The hub does not answer.", at: "\(endpoint)", cause: lastTrouble)
            // A caller that still waits gets the error even if the hub has answered, because its replica does not
            // reflect the answer yet.
            finish(
                request,
                with: request.isWithdrawn ? request.lastAnswer(for: fault) : .failure(request.error(for: fault)))
        }
        if let due = nextGreeting, due <= now {
            nextGreeting = nil
            if isWaitingForHub {
                // Pending requests need not be sent again: the hub answers them before this hello, or not at all. With
                // a lease the pause stays short, because after a loss only a hello renews the lease.
                greetingPause =
                    lease == nil ? min(greetingPause * 2, Self.longestGreetingPause) : Self.firstGreetingPause
                greet()
            }
        }
        if let due = nextConnection, due <= now { connectAgain() }
        if let due = joiningEnds, due <= now {
            joiningEnds = nil
            resumeJoining()
        }
        if let due = nextKeepAlive, due <= now, let lease {
            nextKeepAlive = now.advanced(by: lease / Self.keepAliveCount)
            if case .joined = phase {
                lastNumber += 1
                let bytes = try? Request(number: lastNumber, nonce: nonce, body: .keepAlive).bytes()
                if let bytes, requests?.send([bytes]) == true { sendTimes[lastNumber] = now }
            }
        }
    }

    /// True while a request is unanswered.
    private var isWaitingForHub: Bool {
        switch phase {
        case .greeting: true
        case .joined: catchUp != nil || pending.values.contains { $0.isSent && $0.held == nil }
        case .connecting, .ended: false
        }
    }

    /// The time of the next deadline.
    var nextDeadline: BootInstant? {
        // Without key paths, which are instantiated at their first use: this runs before each wait.
        var next: BootInstant?
        for request in pending.values { next = min(next ?? request.deadline, request.deadline) }
        for due in [nextGreeting, nextKeepAlive, nextConnection, joiningEnds] {
            if let due { next = min(next ?? due, due) }
        }
        return next
    }
}
