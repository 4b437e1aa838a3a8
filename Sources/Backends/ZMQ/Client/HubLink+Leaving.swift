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

    /// How long after a refusal a hub is asked again.
    private static let refusedPause = Duration.seconds(2)

    /// Ends the session, and the connection.
    ///
    /// A hub ends the session of a process that it sees when the process ends, which may be much later. So when no hub has
    /// taken the session's end in time, the link stays behind, alone, until one has.
    ///
    /// - Parameter error: What whoever still waits is told.
    func close(with error: SharedCoreError? = nil) async {
        let error = error ?? .closed("\(endpoint)")
        if isClosing { return }
        isClosing = true
        let isTold = await leave()
        if case .ended = phase { return }
        if isTold || !isOutlivedBySession || FailPoint.fails("link.stayBehind") {
            end(with: error)
        } else {
            stayBehind(with: error)
        }
    }

    /// Gives the link up for a fault: whoever waits is told at once.
    ///
    /// The session goes on until it is closed: what its holder owns is another's as soon as it is over, and only the holder
    /// knows when its core has stopped.
    func giveUp(with error: SharedCoreError) {
        if case .ended = phase { return }
        if isParted { return }
        if FailPoint.fails("link.giveUp") { return end(with: error) }
        part(with: error)
        if FailPoint.fails("link.faultCloses") { stayBehind(with: error) }
    }

    /// Lets everything go but the way to the hub.
    private func part(with error: SharedCoreError) {
        parting = error
        for request in Array(pending.values) { finish(request, with: request.lastAnswer(for: error)) }
        unsent = []
        failReplica(with: error)
        replica = nil
        resumeJoining()
        connectAgain()
    }

    /// Whether a hub may keep the session as long as this process lives.
    private var isOutlivedBySession: Bool {
        if welcome != nil { return lease == nil }
        return greeting > 0 && !endpoint.isOverNetwork
    }

    /// Asks the hub to end the session; tells whether it is over.
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
        return isOver(await askToClose(timeout: grace))
    }

    /// Whether the answer to a close says that the session is over. What was refused for another reason, as on a full disk, the
    /// hub tries again, but it may end before that has succeeded, and the next one knows nothing of it.
    private func isOver(_ answer: PendingRequest.Answer) -> Bool {
        switch answer {
        case .success: true
        case .failure(let error): error.code == .sessionEnded || FailPoint.fails("link.refusedClose")
        }
    }

    private func askToClose(timeout: Duration) async -> PendingRequest.Answer {
        lastNumber += 1
        let number = lastNumber
        return await withCheckedContinuation { continuation in
            pending[number] = PendingRequest(
                number: number, question: .close, deadline: clock.now().advanced(by: timeout)
            ) { continuation.resume(returning: $0) }
            // Behind what is on its way, in front of what would come too late.
            for waiting in unsent { pending[waiting].map { finish($0, with: .failure(.closed("hub"))) } }
            unsent = [number]
            flush()
        }
    }

    /// Stays until a hub has recorded the session's end.
    private func stayBehind(with error: SharedCoreError) {
        if !isParted { part(with: error) }
        let patience = welcome == nil ? Self.unansweredPatience : lease ?? Self.lifetime
        let deadline = clock.now().advanced(by: patience)
        Task {
            while clock.now() < deadline {
                if case .ended = phase { return }
                if isOver(await askToClose(timeout: clock.now().duration(to: deadline))) { break }
                let next = clock.now().advanced(by: Self.refusedPause)
                try? await clock.sleep(until: min(next, deadline))
            }
            end(with: error)
        }
    }
}
