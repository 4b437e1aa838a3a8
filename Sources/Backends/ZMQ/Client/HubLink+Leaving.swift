internal import CoreAPI
internal import Platform
internal import Replica

/// How a client goes: no session of its is left to a hub that comes later.
extension HubLink {
    /// How long a close waits for a hub that is connected, and for one that may come back.
    private static let closingGrace = Duration.seconds(5)
    private static let lostClosingGrace = Duration.seconds(1)
    /// How long a hello that was not answered is followed up: whether there is a session nobody knows.
    private static let unansweredPatience = Duration.seconds(30)
    /// Longer than any process lives.
    private static let lifetime = Duration.seconds(100 * 365 * 86_400)

    /// Ends the session, and the connection.
    ///
    /// A hub ends the session of a process that it sees when the process ends, which may be much later. So when no hub has
    /// taken the session's end in time, the link stays behind, alone, until one has.
    ///
    /// - Parameter error: What whoever still waits is told.
    func close(with error: SharedCoreError? = nil) async {
        let error = error ?? .closed("\(endpoint)")
        let isTold = await leave()
        if case .ended = phase { return }
        if isTold || !isOutlivedBySession { end(with: error) } else { stayBehind(with: error) }
    }

    /// Whether a hub may keep the session as long as this process lives.
    private var isOutlivedBySession: Bool {
        if let welcome { return welcome.lease == nil }
        return greeting > 0 && !endpoint.isOverNetwork
    }

    /// Asks the hub to end the session; tells whether a hub knows of it.
    private func leave() async -> Bool {
        // What is on its way to be heard.
        followName()
        let grace: Duration
        switch phase {
        case .ended: return true
        case .connecting: grace = Self.lostClosingGrace
        case .greeting, .joined: grace = Self.closingGrace
        }
        guard welcome != nil else { return false }
        let answer = await askToClose(within: grace)
        // What is refused for another reason is over, or the hub ends it as soon as it can.
        if case .failure(let error) = answer, error.code == .unavailable { return false }
        return true
    }

    private func askToClose(within patience: Duration) async -> PendingRequest.Answer {
        lastNumber += 1
        let number = lastNumber
        return await withCheckedContinuation { continuation in
            pending[number] = PendingRequest(
                number: number, question: .close, deadline: clock.now().advanced(by: patience)
            ) { continuation.resume(returning: $0) }
            // Behind what is on its way, in front of what would come too late.
            for waiting in unsent { pending[waiting].map { finish($0, with: .failure(.closed("hub"))) } }
            unsent = [number]
            flush()
        }
    }

    /// Lets everything go but the way to the hub, until one has taken the session's end.
    private func stayBehind(with error: SharedCoreError) {
        isLeaving = true
        for request in Array(pending.values) { finish(request, with: .failure(request.error(for: error))) }
        unsent = []
        failReplica(with: error)
        replica = nil
        let patience = welcome == nil ? Self.unansweredPatience : Self.lifetime
        connectAgain()
        Task {
            if case .ended = phase { return }
            _ = await self.askToClose(within: patience)
            self.end(with: error)
        }
    }
}
