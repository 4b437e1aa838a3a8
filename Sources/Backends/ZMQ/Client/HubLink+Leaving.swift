internal import CoreAPI
internal import Platform
internal import Replica

/// Leaves the group so that no later hub keeps a session of this client.
extension HubLink {
    /// How long a close waits for a connected hub, and for a hub that may return or is silent.
    private static let closingGrace = Duration.seconds(5)
    private static let lostClosingGrace = Duration.seconds(1)
    /// A hub that has answered nothing for this long, since a request was sent to it, is silent.
    private static let silence = Duration.milliseconds(750)
    /// How long the link goes on after an unanswered hello, because the hub may have opened a session for it.
    private static let unansweredTimeout = Duration.seconds(30)
    /// A lifetime of the session that is longer than that of any process, for a hub that ends it only with the process.
    private static let lifetime = Duration.seconds(100 * 365 * 86_400)

    /// The time after a refusal before the hub is asked again.
    private static let refusedPause = Duration.seconds(2)

    /// Ends the session, and the connection.
    ///
    /// A hub ends the session of a process that it can see only when the process ends, which may be much later. So if
    /// no hub has recorded the end of the session in time, the link lives on without its handle until a hub has
    /// recorded it.
    ///
    /// - Parameter error: The error for requests that still wait.
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

    /// Stops serving requests after a fault; pending requests fail at once.
    ///
    /// The session lasts until the handle is closed. When it ends, another process may acquire the ownership, and only
    /// this participant knows when its core has stopped.
    func giveUp(with error: SharedCoreError) {
        if case .ended = phase { return }
        if isParted { return }
        if FailPoint.fails("link.giveUp") { return end(with: error) }
        part(with: error)
        if FailPoint.fails("link.faultCloses") { stayBehind(with: error) }
    }

    /// Ends everything except the connection to the hub.
    private func part(with error: SharedCoreError) {
        parting = error
        for request in Array(pending.values) { finish(request, with: request.lastAnswer(for: error)) }
        unsent = []
        failReplica(with: error)
        replica = nil
        resumeJoining()
        connectAgain()
    }

    /// True if a hub may keep the session until this process ends.
    private var isOutlivedBySession: Bool {
        if welcome != nil { return lease == nil }
        return greeting > 0 && !endpoint.isOverNetwork
    }

    /// Asks the hub to end the session, and returns whether it has ended.
    private func leave() async -> Bool {
        // Handles a change of a hub in this process that was not handled yet.
        followName()
        if case .ended = phase { return true }
        guard welcome != nil else { return false }
        return isOver(await askToClose(timeout: closingTimeout))
    }

    /// The time limit for a close that begins now.
    var closingTimeout: Duration {
        if case .connecting = phase { return Self.lostClosingGrace }
        // Requests that were given up count as well, although they are no longer pending.
        let isSilent = unansweredSince.map { $0.duration(to: clock.now()) >= Self.silence } ?? false
        return isSilent ? Self.lostClosingGrace : Self.closingGrace
    }

    /// Returns whether the answer to a close says that the session is over. After any other refusal, as on a full disk,
    /// the hub tries again, but it may end before that succeeds, and the next hub does not know of the close.
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
            // The hub receives the close after the requests that were sent. Requests that were not sent are too late,
            // so they fail.
            for waiting in unsent { pending[waiting].map { finish($0, with: .failure(.closed("hub"))) } }
            unsent = [number]
            flush()
        }
    }

    /// Keeps the link until a hub has recorded the session's end.
    private func stayBehind(with error: SharedCoreError) {
        if !isParted { part(with: error) }
        let timeout = welcome == nil ? Self.unansweredTimeout : lease ?? Self.lifetime
        let deadline = clock.now().advanced(by: timeout)
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
