internal import Coordination
internal import CoreAPI
internal import Lifecycle
internal import NetworkMonitor

/// The steps of single actions.
extension Telephone {
    func register() async throws {
        let lifetime = try await client.register()
        try await keepAlive.registered(Self.registration, for: lifetime)
        refresh(after: lifetime / 2)
    }

    /// Refreshes the registration in time while the application is awake, which the machine leaves to its client. Asleep it
    /// is the keep-alive's, since nothing else runs then.
    private func refresh(after wait: Duration) {
        refreshing?.cancel()
        refreshing = Task { [weak self, clock] in
            try await clock.sleep(until: clock.now().advanced(by: wait))
            await self?.refresh()
        }
    }

    private func refresh() async {
        guard !isAsleep, await client.isConnected else { return }
        do {
            try await subscribe()
            // Plans the next one in place of this, so it comes last.
            try await register()
        } catch is CancellationError {
            // Another registration has come before it.
        } catch {
            await loseConnection()
        }
    }

    /// Reports that the server is out of reach although the network is there. The machine decides on the next step.
    func loseConnection() async {
        await client.disconnect()
        happen.yield(.connectionLost)
    }

    func subscribe() async throws {
        for event in Self.events { try await client.subscribe(to: event) }
        // The server's notices on them come before its answer to a question that is put after them.
        guard await !client.isAnswered() else { return }
        try Task.checkCancellation()
        await loseConnection()
        throw TelephoneClient.Failure.noAnswer(to: "OPTIONS")
    }

    /// Ends without a word to the server.
    func end() async {
        refreshing?.cancel()
        await client.disconnect()
    }

    func restorePresence() async throws {
        try await client.subscribe(to: "presence")
        try await client.publish("open")
        hasPresence = true
    }

    /// Gives up the services without a level in the table. It sends no request for a service that is already away with
    /// the network.
    func apply(levelsOf state: ApplicationState) async throws {
        isInFront = state == .foreground
        let conditions = ServiceConditions(state)
        await web.rest(levels.level(of: .httpServices, in: conditions) == .none)
        guard levels.level(of: .presenceSubscription, in: conditions) == .none, hasPresence else { return }
        hasPresence = false
        if await client.isConnected, network?.isConnected != false { try await client.unsubscribe(from: "presence") }
    }

    /// Lets a holder, such as the host, own while this process sleeps.
    ///
    /// - Returns: `held` without a holder: the connectivity machine then has the ownership given up.
    func rest() async throws -> CoreOwnership {
        do throws(CoordinationError) { try await main.rest() } catch {
            guard error.code == .unavailable || error.code == .unsupported else { throw error }
            return .held
        }
        return .resting
    }

    /// Ends the rest, so that this process owns by itself again. If the rest was over already, another process may own.
    func resume() async throws -> CoreOwnership {
        do throws(CoordinationError) { try await main.resume() } catch {
            guard error.code == .fenced else { throw error }
            return .lost
        }
        return .held
    }

    /// Everything that lay in the socket is heard when the server answers a question that was put after it.
    func readWhatCame() async throws {
        await client.keepUnread(false)
        guard await client.isAnswered() else { throw TelephoneClient.Failure.noAnswer(to: "OPTIONS") }
    }

    func showTexts() async {
        for text in await client.takeTexts() {
            show("\(isInFront ? "message" : "alert"): \(text.body)")
            // One that cannot be acknowledged now is shown once more, by the next process that asks for it.
            _ = try? await main.acknowledge(text.id)
        }
    }

    func hold() async throws {
        guard call != nil else { return }
        try await client.call(media: "sendonly")
        call?.isHeld = true
    }

    func show(_ line: String) {
        screen.append(line)
    }
}
