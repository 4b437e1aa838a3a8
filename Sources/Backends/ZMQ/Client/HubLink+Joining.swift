internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Joins the group in three steps: hello, stream, state.
extension HubLink {
    /// Joins the group.
    ///
    /// The subscription and the requests use separate connections. So the state is requested only after the stream has
    /// echoed the client's mark: from then on, the client receives everything that is published.
    func join() async throws(SharedCoreError) -> (Reply.Welcome, Replica) {
        let deadline = options.openTimeout.map { clock.now().advanced(by: $0) }
        joiningEnds = deadline
        defer { joiningEnds = nil }
        // One handler for all steps: entering or leaving a handler may change threads.
        let outcome = await withTaskCancellationHandler {
            await takeSteps(by: deadline)
        } onCancel: {
            Task { await self.resumeJoining() }
        }
        // The session exists already, or may exist.
        if case .failure(let error) = outcome { await close(with: error) }
        return try outcome.get()
    }

    /// Requests a view of the group, as a reader, and ends the link. The hub keeps no record of the reader.
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
            // Over a network the port of the stream is in the welcome. Otherwise both connections are made at the same
            // time.
            if !endpoint.isOverNetwork {
                try SharedCoreError.wrapping { () throws(MessagingError) in try self.listen(at: nil) }
            }
            let welcome = try await reach(by: deadline, "No hub answers") { $0.welcome }
            try SharedCoreError.wrapping { () throws(MessagingError) in try self.listen(at: welcome.streamPort) }
            _ = try await reach(by: deadline, "The hub's stream is not heard") { $0.isArmed ? true : nil }
            if replica == nil { askForMissing() }
            // The state is taken after the join began; changes published since then are received or requested.
            return .success((welcome, try await reach(by: deadline, "The hub does not send its state") { $0.replica }))
        } catch {
            return .failure(error)
        }
    }

    /// Waits for a step of joining. The caller must resume it on cancellation.
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
                    // The advice to start a hub is left out when a hub is known to exist.
                    "\(trouble) at \(endpoint)."
                        + (lastTrouble == nil && welcome == nil
                            ? " Is it running? “sharedcore hub” on its machine starts one." : ""),
                    at: "\(endpoint)", cause: lastTrouble)
            }
            await withCheckedContinuation { joining = $0 }
        }
    }

    // MARK: - Hello

    /// Sends a hello, which resumes the session if there is one.
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

    /// Handles a welcome: the hub knows this connection.
    func welcomed(_ updates: Reply.Welcome) {
        if welcome == nil { welcome = updates }
        nonce = updates.nonce
        promises = updates.capabilities.features
        nextGreeting = nil
        lease = updates.lease
        if lease == nil { confirmation.withLock { $0 = nil } }
        nextKeepAlive = lease.map { clock.now().advanced(by: $0 / Self.keepAliveCount) }
        phase = .joined
        stopReplacing()
        lastTrouble = nil
        // Requests sent over the former connection may have been lost.
        catchUp = nil
        isHeardAnew = false
        resumeJoining()
        sendAgain()
        // Applies to a joining client too. Its state may be on request already: two hellos are answered by two
        // welcomes.
        if replica != nil || isArmed { askForMissing() }
    }

    /// Handles a refused hello.
    func notWelcomed(_ error: SharedCoreError) {
        guard welcome != nil, error.code != .sessionEnded else { return end(with: error) }
        // The session exists. So hello is repeated after a while, to go on with the session or to end it.
        guard error.code == .unavailable else {
            // The hub does not accept the end of the session, and another attempt would change nothing.
            let isFinal = error.code == .forbidden || error.code == .incompatible
            if isClosing, isFinal, !FailPoint.fails("link.refusedLeaving") { return end(with: error) }
            return giveUp(with: error)
        }
        guard !isParted, !FailPoint.fails("link.refusedPause") else { return }
        greetingPause = Self.refusedGreetingPause
        nextGreeting = clock.now().advanced(by: greetingPause)
    }
}
