internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// How a client comes to its replica: hello, the stream, the state.
extension HubLink {
    /// Joins the group.
    ///
    /// The subscription and the requests travel on two connections. So the state is asked for only after the stream has
    /// echoed the client's mark: from then on, everything that is published comes through.
    func join() async throws(SharedCoreError) -> (Reply.Welcome, Replica) {
        let deadline = options.openTimeout.map { clock.now().advanced(by: $0) }
        joiningEnds = deadline
        defer { joiningEnds = nil }
        // One for all steps: whoever enters or leaves it may change threads.
        let outcome = await withTaskCancellationHandler {
            await takeSteps(by: deadline)
        } onCancel: {
            Task { await self.resumeJoining() }
        }
        // The session is there already, or may be.
        if case .failure(let error) = outcome { await close(with: error) }
        return try outcome.get()
    }

    /// Asks for a view of the group, as a reader, and ends the link: the hub keeps nothing of it.
    func look() async throws(SharedCoreError) -> View {
        let deadline = options.openTimeout.map { clock.now().advanced(by: $0) }
        joiningEnds = deadline
        let outcome = await withTaskCancellationHandler { () -> Result<View, SharedCoreError> in
            do throws(SharedCoreError) {
                listenToName()
                try SharedCoreError.wrapping { () throws(MessagingError) in try self.connect() }
                return .success(try await reach(by: deadline, "No hub answers") { $0.view })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            Task { await self.resumeJoining() }
        }
        end(with: .closed("\(endpoint)"))
        return try outcome.get()
    }

    private func takeSteps(by deadline: BootInstant?) async -> Result<(Reply.Welcome, Replica), SharedCoreError> {
        do throws(SharedCoreError) {
            listenToName()
            try SharedCoreError.wrapping { () throws(MessagingError) in try self.connect() }
            // Over a network the welcome says where the stream is; elsewhere both ways are made side by side.
            if !endpoint.isOverNetwork {
                try SharedCoreError.wrapping { () throws(MessagingError) in try self.listen(at: nil) }
            }
            let welcome = try await reach(by: deadline, "No hub answers") { $0.welcome }
            try SharedCoreError.wrapping { () throws(MessagingError) in try self.listen(at: welcome.streamPort) }
            _ = try await reach(by: deadline, "The hub's stream is not heard") { $0.isArmed ? true : nil }
            if replica == nil { askForMissing() }
            // It is cut after the join began, and what was published since then is taken or asked for.
            return .success((welcome, try await reach(by: deadline, "The hub does not send its state") { $0.replica }))
        } catch {
            return .failure(error)
        }
    }

    /// Waits for a step of joining. Whoever calls has cancellation resume it.
    private func reach<Value: Sendable>(
        by deadline: BootInstant?, _ trouble: String, _ step: (isolated HubLink) -> Value?
    ) async throws(SharedCoreError) -> Value {
        while true {
            if case .ended(let error) = phase { throw error }
            if let parting { throw parting }
            if let value = step(self) { return value }
            if Task.isCancelled { throw .cancelled("open") }
            if let deadline, clock.now() >= deadline {
                throw SharedCoreError(
                    .unavailable,
                    // A hub of which something is known need not be started.
                    "\(trouble) at \(endpoint)."
                        + (lastTrouble == nil ? " Is it running? “sharedcore hub” on its machine starts one." : ""),
                    at: "\(endpoint)", cause: lastTrouble)
            }
            await withCheckedContinuation { joining = $0 }
        }
    }

    // MARK: - Hello

    /// Says hello, as the one who was there before if this one was.
    func greet() {
        if case .ended = phase { return }
        phase = .greeting
        lastNumber += 1
        greeting = lastNumber
        let body: Request.Body =
            if isReader { .view(group: group) } else {
                .hello(
                    Request.Hello(
                        group: group, process: .current, description: description, token: token,
                        resumed: welcome?.session.id))
            }
        guard let bytes = try? Request(number: lastNumber, body: body).bytes() else { return }
        let now = clock.now()
        let isSent = requests?.send([bytes]) == true
        if isSent { sendTimes[lastNumber] = now }
        nextGreeting = now.advanced(by: isSent ? greetingPause : Self.unsentGreetingPause)
    }

    /// The hub knows this connection.
    func welcomed(_ news: Reply.Welcome) {
        if welcome == nil { welcome = news }
        nonce = news.nonce
        nextGreeting = nil
        lease = news.lease
        if lease == nil { confirmation.withLock { $0 = nil } }
        nextKeepAlive = lease.map { clock.now().advanced(by: $0 / Self.keepAliveCount) }
        phase = .joined
        stopReplacing()
        lastTrouble = nil
        // What it was asked before may have been asked in vain.
        catchUp = nil
        isHeardAnew = false
        resumeJoining()
        sendAgain()
        // Also a state that was asked for while joining: a hello that was said twice is welcomed twice.
        if replica != nil || isArmed { askForMissing() }
    }

    /// The hub does not let this client in, or not yet.
    func notWelcomed(_ error: SharedCoreError) {
        guard welcome != nil, error.code != .sessionEnded else { return end(with: error) }
        // The session is there. So hello is said again after a while, by whoever may use the link or to end it.
        guard error.code == .unavailable else {
            // No hub here takes its end, and asking again changes nothing.
            let isFinal = error.code == .forbidden || error.code == .incompatible
            if isClosing, isFinal, !FailPoint.fails("link.refusedLeaving") { return end(with: error) }
            return giveUp(with: error)
        }
        guard !isParted, !FailPoint.fails("link.refusedPause") else { return }
        greetingPause = Self.refusedGreetingPause
        nextGreeting = clock.now().advanced(by: greetingPause)
    }
}
