internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// What the link does each time its thread wakes.
extension HubLink {
    /// How many messages are taken before the time is looked at again.
    private static let batchCount = 256
    /// After how many of them what the former ones have brought is offered to the other thread.
    private static let offerCount = 32

    /// Takes what has come and does what is due.
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

    /// Gives up a connection over a path that another user may lead by now, as where a directory of it was removed, and
    /// connects anew later. The library has looked the path up by itself.
    private func leavesUntrusted() -> Bool {
        do throws(SharedCoreError) {
            _ = try endpoint.trusted()
            return false
        } catch {
            closeSockets()
            lastTrouble = error.message
            nextConnection = clock.now().advanced(by: Self.lossPatience)
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
            // What came of an earlier connection says more.
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
            // Before the first welcome, opening the group starts the hub.
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
        nextConnection = nextConnection ?? clock.now().advanced(by: Self.lossPatience)
    }

    // MARK: - Answers

    private func read(_ frame: ReceivedFrame) {
        guard let answer = try? Answer(frame) else {
            lastTrouble = "the hub sent what is no answer of this protocol"
            return
        }
        let reply = answer.reply
        let sentAt = sendTimes.removeValue(forKey: reply.number) ?? pending[reply.number]?.sentAt
        switch reply.body {
        case .welcome(let news):
            welcomed(news)
            return confirm(sentAt)
        case .unknown: return forgotten(reply.number)
        case .view(let revision, let capabilities):
            return viewed(answer.records, at: revision, capabilities)
        // It says nothing of the session.
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
                // The hub's files are damaged. To ask again brings the same.
                if isCatchUp, replica == nil, error.code == .corrupt { giveUp(with: error) }
            }
            // A hub of another version does not even know the number.
            if case .greeting = phase, case .refused(let error) = reply.body, [0, greeting].contains(reply.number) {
                notWelcomed(error)
            }
            return
        }
        switch reply.body {
        case .outcome(let outcome, let revision, let news):
            FailPoint.hit("link.afterAnswer")
            apply(news)
            switch outcome {
            case .committed(let commit): hold(request, reply.body, until: commit.revision)
            // What the guard found is something that this client has seen.
            case .refused: hold(request, reply.body, until: revision)
            }
        case .current(let revision, let news):
            apply(news)
            hold(request, reply.body, until: revision)
        case .refused(let error): finish(request, with: .failure(error))
        case .done: finish(request, with: .success(reply.body))
        case .history(let revision):
            if extendHistory(with: answer.records, at: revision) {
                finish(request, with: .success(reply.body))
            }
        case .welcome, .unknown, .snapshot, .view: break
        }
        answered()
    }

    /// The hub has heard what was sent then, so the session stands for a lease from there at least.
    private func confirm(_ sentAt: BootInstant?) {
        guard let lease, let sentAt else { return }
        confirmation.withLock {
            $0 = SessionLease(duration: lease, confirmedAt: max($0?.confirmedAt ?? sentAt, sentAt))
        }
    }

    /// A reader has what it asked for.
    private func viewed(_ records: Answer.Records, at revision: Revision, _ capabilities: Capabilities) {
        guard isReader, view == nil else { return }
        guard let state = Self.state(of: records, capabilities.limits, options), state.revision == revision else {
            return end(with: Wire.malformed("its view is damaged"))
        }
        view = View(state: state, capabilities: capabilities)
        resumeJoining()
    }

    /// The hub answers what it is asked.
    private func answered() {
        greetingPause = Self.firstGreetingPause
        nextGreeting = isWaitingForHub ? clock.now().advanced(by: greetingPause) : nil
    }

    /// The hub does not know the connection, so it has not done what it was asked over it.
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

    // MARK: - News

    private func hear(_ bytes: [UInt8]) {
        guard let message = try? StreamMessage(bytes) else { return }
        switch message {
        case .armed(let echo):
            guard echo == mark else { return }
            isArmed = true
            resumeJoining()
            // The stream is heard again: what was published meanwhile is missing. So is the state while joining.
            isHeardAnew = catchUp != nil
            askForMissing()
        case .news(let news, let incarnation):
            guard incarnation == welcome?.incarnation else { return }
            guard replica != nil else {
                // The state that is on its way may have been cut before.
                if let last = news.effects.last.flatMap({ News.revision(of: $0) }) { announce(last) }
                return
            }
            if !apply(news), !FailPoint.fails("link.gap") { askForMissing() }
        case .beacon(let revision, let incarnation):
            guard incarnation == welcome?.incarnation else { return }
            announce(revision)
        }
    }

    /// A revision is known to exist: what is missing up to it is asked for.
    private func announce(_ revision: Revision) {
        announced = max(announced, revision)
        guard let replica else {
            // A state that was refused while joining is asked for again; before the echo it would be too early.
            if isArmed { askForMissing() }
            return
        }
        if replica.read({ $0.revision }) < announced { askForMissing() }
    }

    /// Applies effects when the replica stands where they begin or within them.
    ///
    /// - Returns: Whether the replica has them all now.
    @discardableResult
    private func apply(_ news: News) -> Bool {
        guard let replica else { return false }
        var isUnreadable = false
        let isWhole = replica.update { state in
            guard news.after <= state.revision else { return false }
            for payload in news.effects {
                // What came by the other way already need not be read.
                if let revision = News.revision(of: payload), revision <= state.revision { continue }
                guard case .effect(let effect)? = try? JournalRecord(payload[...]) else {
                    isUnreadable = true
                    return true
                }
                if effect.revision > state.revision { state.apply(effect) }
            }
            return true
        }
        // Asking again would bring the same.
        if isUnreadable { giveUp(with: Wire.malformed("an effect is damaged")) }
        return isWhole
    }

    /// Asks for what comes after the replica's revision, or for the whole state when there is none.
    func askForMissing() {
        guard catchUp == nil, case .joined = phase else { return }
        lastNumber += 1
        let known = replica?.read { $0.revision }
        guard let bytes = try? Request(number: lastNumber, nonce: nonce, body: .catchUp(after: known)).bytes(),
            requests?.send([bytes]) == true
        else { return }
        catchUp = lastNumber
        if nextGreeting == nil { nextGreeting = clock.now().advanced(by: greetingPause) }
    }

    private func takeMissing(_ reply: Reply.Body, _ records: Answer.Records) {
        defer { answered() }
        switch reply {
        case .current(let revision, let news):
            if !apply(news) { return askForMissing() }
            announce(revision)
        case .snapshot(let revision):
            guard let welcome, let state = Self.state(of: records, welcome.capabilities.limits, options),
                state.revision == revision
            else {
                return giveUp(with: Wire.malformed("its snapshot is damaged"))
            }
            if let replica {
                replica.update { former in
                    guard state.revision > former.revision else { return }
                    var state = state
                    state.keepHistory(of: former)
                    former = state
                }
            } else {
                replica = Replica(state)
                resumeJoining()
            }
            announce(revision)
        case .welcome, .outcome, .done, .refused, .unknown, .history, .view: break
        }
    }

    /// Puts what happened before the replica was made in front of its history.
    private func extendHistory(with records: Answer.Records, at revision: Revision) -> Bool {
        do throws(SharedCoreError) {
            var parts: [SnapshotPart] = []
            try records.forEach { record throws(SharedCoreError) in
                guard case .snapshot(let part) = try JournalRecord(record[...]) else {
                    throw Wire.malformed("its history is damaged")
                }
                parts.append(part)
            }
            try replica?.change { state throws(SharedCoreError) in try state.prependHistory(parts, at: revision) }
            return true
        } catch {
            giveUp(with: error)
            return false
        }
    }

    private static func state(
        of records: Answer.Records, _ limits: Limits, _ options: ZMQGroupOptions
    ) -> StoreState? {
        var reader = SnapshotReader(limits: limits, historyByteCount: options.historyByteCount)
        do throws(SharedCoreError) {
            try records.forEach { record throws(SharedCoreError) in
                guard case .snapshot(let part) = try JournalRecord(record[...]) else {
                    throw Wire.malformed("a record of its state is damaged")
                }
                try reader.read(part)
            }
        } catch {
            return nil
        }
        return reader.result
    }

    // MARK: - Time

    private func meetDeadlines() {
        let now = clock.now()
        for request in Array(pending.values) where request.deadline <= now {
            let fault = SharedCoreError(
                .unavailable, "The hub does not answer.", at: "\(endpoint)", cause: lastTrouble)
            // Whoever still waits gets no answer that a look would not show.
            finish(
                request,
                with: request.isWithdrawn ? request.lastAnswer(for: fault) : .failure(request.error(for: fault)))
        }
        if let due = nextGreeting, due <= now {
            nextGreeting = nil
            if isWaitingForHub {
                // What was asked for stays asked for: its answer comes before that to this hello, or not at all.
                // With a lease the hub is to be reached again soon: from a loss on, only a hello keeps it.
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

    /// Whether something is without an answer.
    private var isWaitingForHub: Bool {
        switch phase {
        case .greeting: true
        case .joined: catchUp != nil || pending.values.contains { $0.isSent && $0.held == nil }
        case .connecting, .ended: false
        }
    }

    /// When something is due at the latest.
    var nextDeadline: BootInstant? {
        // Without key paths, which the language makes when they are met for the first time: this comes before each
        // wait.
        var next: BootInstant?
        for request in pending.values { next = min(next ?? request.deadline, request.deadline) }
        for due in [nextGreeting, nextKeepAlive, nextConnection, joiningEnds] {
            if let due { next = min(next ?? due, due) }
        }
        return next
    }
}
