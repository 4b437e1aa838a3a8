internal import CoreAPI

/// How directives are carried out.
extension Participant {
    func carryOut(_ directive: Directive) async {
        troubleSince = troubleSince ?? clock.now()
        // Publish the time at which callers that wait for the participant's end must give up, because the store may not
        // answer before that.
        if stuckAt != nil { publish() }
        isCarryingOut = true
        watchPolicy()
        defer {
            isCarryingOut = false
            policyWatch?.cancel()
        }
        do throws(SharedCoreError) {
            try await attempt(directive)
            if directive.isCommit || blockingFailure?.isCommit == false { blockingFailure = nil }
            if blockingFailure == nil { troubleSince = nil }
        } catch {
            note(error)
            machine.refused(at: clock.now())
            blockingFailure = BlockingFailure(
                error: error, since: blockingFailure?.since ?? clock.now(),
                isCommit: directive.isCommit || blockingFailure?.isCommit == true)
        }
    }

    private func attempt(_ directive: Directive) async throws(SharedCoreError) {
        switch directive {
        case .look:
            try await look()
        case .bury:
            _ = try await store.sessions(among: machine.view.sessions)
            try await look(.causal)
        case .commit(let transition):
            if transition.acquires, store.session.role != .main, try await dropAnsweredNeeds() { return }
            let givenUp = transition.timelineEvents.first { $0.kind == .coreGivenUp }?.epoch
            // This must happen before the commit, because other participants may own after it.
            if let coreRun, coreRun.epoch == givenUp { coreRun.giveUp() }
            try await commit(transition)
        case .startCore(let epoch):
            startCore(under: epoch)
        case .stopCore(let epoch):
            stopCore(of: epoch)
        case .resumeCore(let epoch):
            resumeCore(of: epoch, for: machine.wokenFor)
        case .examine(let process, let claim):
            machine.examined(claim, isStopped: await environment.processes.isStopped(process))
        case .kill(let process, let epoch):
            // Read the ownership again before the kill. This process may have been stopped since it announced the kill:
            // other participants may have removed its request, and the owner may own under another epoch.
            try await look()
            let reason = await kill(process, of: epoch)
            machine.killEnded(epoch, impossible: reason, at: clock.now())
            try await look()
        }
    }

    /// Kills the process of an owner, after it is proven to be the right process.
    ///
    /// - Returns: Why that is not possible; nil if it was killed, had ended, or need not be killed any more.
    private func kill(_ process: ProcessIdentity, of epoch: Revision) async -> String? {
        guard let owner = machine.view.owner, owner.claim == epoch, let handover = machine.view.handover,
            handover.session == store.session.id, handover.record.isKilling
        else { return nil }
        let outcome = await environment.processes.kill(process) { [store, namespace = environment.system.namespace] in
            // Minimum checks for every backend. The machine has already compared the PID namespaces, but both may be
            // unknown.
            guard owner.record.processNamespace == namespace, owner.record.processNamespace != 0
            else { return "its process number is of another namespace" }
            guard let prover = store as? any SessionProver else {
                return "the backend cannot prove to which process a session belongs"
            }
            return await prover.doubt(that: process, has: owner.session)
        }
        guard case .impossible(let reason) = outcome else { return nil }
        return reason
    }

    /// Reads the present state of the ownership.
    ///
    /// - Parameter consistency: Causal if a call just before has shown the state to be read, as a commit shows itself.
    ///   Over a connection the read then needs no round trip (contract S4).
    func look(_ consistency: ReadConsistency = .linearizable) async throws(SharedCoreError) {
        let begun = clock.now()
        let standing = try await store.list(OwnershipKey.path, consistency: consistency)
        machine.view.apply(standing, at: clock.now())
        noticeRefusal()
        if consistency == .linearizable {
            lookedAt = begun
            signalListeners()
        }
    }

    /// Commits a transition with its timeline entries, then reads. A failed guard is no error: the state had changed,
    /// and the read shows it.
    private func commit(_ transition: Transition) async throws(SharedCoreError) {
        var transaction = transition.transaction
        for timelineEvent in transition.timelineEvents { try await tell(timelineEvent, in: &transaction) }
        var consistency = ReadConsistency.causal
        let wasUnclear = machine.begins(transition)
        do throws(SharedCoreError) {
            let revision = try await store.commit(transaction).revision
            machine.committed(transition, at: revision)
            if let place = transition.place { environment.system.place(place) }
        } catch {
            machine.missed(transition, OwnershipMachine.Miss(error.code), wasUnclear: wasUnclear)
            guard error.code == .guardFailed || error.code == .outcomeUnknown else { throw error }
            machine.refused(at: clock.now())
            consistency = .linearizable
        }
        trimTimelineWhenDue()
        try await look(consistency)
    }

    /// Adds an entry of the timeline.
    private func tell(_ timelineEvent: OwnershipEvent, in transaction: inout Transaction) async throws(SharedCoreError)
    {
        var previous = timelineEvent.previous
        if timelineEvent.kind == .acquired {
            let tenure = try await timeline.tenure()
            timeline.requireUnchanged(tenure, in: &transaction)
            previous = tenure?.previous
        }
        let entry = TimelineEntry(
            timelineEvent.kind, by: store.session, epoch: timelineEvent.epoch, other: timelineEvent.other,
            from: timelineEvent.from, to: timelineEvent.to,
            previous: previous, bound: timelineEvent.bound, reason: timelineEvent.reason, at: clock.now(),
            bootID: clock.bootID)
        try timeline.append(entry, to: &transaction)
        untrimmedCount += 1
    }

    /// Writes an entry that belongs to no transition to the timeline. It is information for users, so a failure is
    /// ignored.
    func tell(_ timelineEvent: OwnershipEvent) async {
        var transaction = Transaction()
        do throws(SharedCoreError) {
            try await tell(timelineEvent, in: &transaction)
            _ = try await store.commit(transaction)
            trimTimelineWhenDue()
        } catch {
            note(error)
        }
    }

    /// Handles an ownership that was taken away, given up to another Main, or cannot be acquired again.
    func noticeLoss() async {
        if let refusal = machine.refusal, demandPolicy.notice(refusal) { await tell(refusal) }
        let loss = machine.takeLoss()
        let isAfterMain = await hasMainOwned(since: loss)
        demandPolicy.notice(loss, hasYielded: machine.hasYielded || isAfterMain)
        guard let loss, let successor = loss.successor else { return }
        await tell(
            OwnershipEvent(
                kind: .fenced, epoch: loss.epoch, other: successor.claim,
                reason: "a newer epoch owns, so its core is stopped"))
    }

    /// Returns true if another Main has owned since an ownership was lost, and owns no more. A Main that was frozen
    /// during that time sees no owner, and would own again, although it would have given way if it had seen the other
    /// Main.
    ///
    /// Source: contract C14.
    private func hasMainOwned(since loss: Loss?) async -> Bool {
        guard let loss, loss.successor == nil, store.session.role == .main else { return false }
        // If the timeline cannot be read, the Main asks for ownership as after any other loss.
        guard let history = try? await timeline.history() else { return false }
        return history.records.contains { record in
            [.acquired, .tookOver].contains(record.entry.kind) && record.entry.role == .main
                && record.entry.participant != store.session.id && record.revision > loss.epoch
        }
    }
}
