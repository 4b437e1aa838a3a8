public import Lifecycle
public import NetworkMonitor

/// The events of the application, told to the machine.
extension Telephone {
    /// Follows the network, such as the states of a `NetworkMonitor`, until it ends.
    public func follow(_ states: AsyncStream<NetworkState>) async {
        for await state in states { await take(state) }
    }

    func take(_ state: NetworkState) async {
        let before = network
        network = state
        guard state.isConnected else {
            if before?.isConnected != false { happen.yield(.networkLost) }
            return
        }
        guard let before, before.isConnected else {
            happen.yield(.networkBack)
            return
        }
        // Connected before and after, but by another network: the address that the connection comes from leads out no more.
        if let host = await client.localHost, let own = IPAddress(host), before.canSend(from: own),
            !state.canSend(from: own)
        {
            await client.disconnect()
            happen.yield(.networkLost)
            happen.yield(.networkBack)
        }
    }

    /// Follows the connection, until the client is gone.
    public func followConnection() async {
        for await incoming in client.incoming {
            switch incoming {
            case .traffic:
                await keepAlive.traffic(on: Self.registration)
                // In a wake the machine says when the user is alerted, and it resumes before the wake.
                if !isInWake, !isAsleep { await showTexts() }
            // Texts for another process come on the socket as well.
            case .unreadData, .needed: happen.yield(.dataOnKeptSocket)
            case .ended:
                // Unless there is another one already.
                if await !client.isConnected { happen.yield(.connectionLost) }
            }
        }
    }

    /// The user brings it to the front, or looks at something else.
    public func bring(to state: ApplicationState) {
        switch state {
        case .foreground: happen.yield(.toForeground)
        case .background: happen.yield(.toBackground)
        case .suspended: happen.yield(.suspendedBySystem(interval: .seconds(600)))
        }
    }

    /// Places a call, as the user does.
    public func placeCall() async throws {
        try await client.call(media: "sendrecv")
        call = Call()
        happen.yield(.activeCallBegan)
    }

    /// The user takes the held call up again.
    public func resumeCall() async throws {
        try await client.call(media: "sendrecv")
        call = Call()
    }

    public func hangUp() async throws {
        guard call != nil else { return }
        // The machine may let the application sleep after it, so the server is told first; whether it answers or not.
        defer {
            call = nil
            happen.yield(.activeCallEnded)
        }
        try await client.hangUp()
    }
}
