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
        // Use one cancellation handler for all steps, because entering or leaving a handler may change threads.
        let outcome = await withTaskCancellationHandler {
            await takeSteps(by: deadline)
        } onCancel: {
            Task { await self.resumeJoining() }
        }
        // The hub may have opened a session already, so end it.
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
            _ = try await reach(by: deadline, "The hub's stream of updates does not arrive") { $0.isArmed ? true : nil }
            if replica == nil { askForMissing() }
            // The hub takes the state after this join began. Later changes come by the stream, or are requested.
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
                    // If a hub is known to exist, do not advise the user to start one.
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
        // A request for missing changes that was sent over the former connection may be lost.
        catchUp = nil
        isHeardAnew = false
        resumeJoining()
        sendAgain()
        // This also applies to a client that is joining. It may have requested the state already, because the hub
        // answers each of two hellos with a welcome.
        if replica != nil || isArmed { askForMissing() }
    }

    /// Handles a refused hello.
    func notWelcomed(_ error: SharedCoreError) {
        guard welcome != nil, error.code != .sessionEnded else { return end(with: error) }
        // The session exists, so repeat the hello after a pause, either to continue the session or to end it.
        guard error.code == .unavailable else {
            // With these errors the hub refuses to end the session, and would refuse each further attempt.
            let isFinal = error.code == .forbidden || error.code == .incompatible
            if isClosing, isFinal, !FailPoint.fails("link.refusedLeaving") { return end(with: error) }
            return giveUp(with: error)
        }
        guard !isParted, !FailPoint.fails("link.refusedPause") else { return }
        greetingPause = Self.refusedGreetingPause
        nextGreeting = clock.now().advanced(by: greetingPause)
    }
}
