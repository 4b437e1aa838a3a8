internal import Lifecycle
internal import NetworkMonitor

/// What single actions take.
extension Telephone {
    func register() async throws {
        let lifetime = try await client.register()
        try await keepAlive.registered(Self.registration, for: lifetime)
    }

    func restorePresence() async throws {
        try await client.subscribe(to: "presence")
        try await client.publish("open")
        hasPresence = true
    }

    /// Gives up what the table has no level for. What is already away with the network is not asked for.
    func apply(levelsOf state: ApplicationState) async throws {
        let situation = Situation(state)
        await web.rest(levels.level(of: .httpServices, in: situation) == .none)
        guard levels.level(of: .presenceSubscription, in: situation) == .none, hasPresence else { return }
        hasPresence = false
        if await client.isConnected, network?.isConnected != false { try await client.unsubscribe(from: "presence") }
    }

    /// Everything that lay in the socket is heard when the server answers a question that was put after it.
    func readWhatCame() async throws {
        await client.keepUnread(false)
        guard await client.isAnswered() else { throw TelephoneClient.Failure.noAnswer(to: "OPTIONS") }
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
