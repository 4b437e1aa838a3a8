internal import CoreAPI
internal import Mailboxes

/// How a call waits for its message.
extension Participant {
    /// Waits for the message of a call-id and takes it.
    func message(
        for callID: CallID, before deadline: BootInstant, insisting: Bool,
        reporting: (@Sendable (OwnershipWait) -> Void)?
    ) async throws(CoordinationError) -> MessageAnswer {
        try guardOpen()
        do throws(SharedCoreError) {
            try await begin()
        } catch {
            throw failure(error)
        }
        let number = newNumber()
        let bell = Bell()
        listeners[number] = bell
        report(to: number, by: reporting)
        var alarm = Alarm(ringing: bell, by: clock)
        defer {
            listeners[number] = nil
            stopReporting(to: number)
            intentions.needs[number] = nil
            alarm.stop()
            self.bell.ring()
        }
        if insisting { try await own(as: number, before: deadline) }
        let held = insisting ? machine.holding?.epoch : nil

        let item = ItemName(callID.text)
        do throws(SharedCoreError) {
            // Armed before the first look: nothing that is stored from here on goes unnoticed.
            let watch = try await store.watch([inbox.prefix(of: callID)], from: .now)
            let pump = Task(executorPreference: ParticipantThread.shared) { await self.ring(bell, for: watch) }
            defer {
                watch.cancel()
                pump.cancel()
            }
            var wait = MessageWait(deadline: deadline, lookInterval: machine.rules.lookInterval)
            let result = await result {
                () async throws(SharedCoreError) in
                try await self.wait(
                    &wait, for: callID, under: held, as: number, bell: bell, alarm: &alarm)
            }
            if wait.isExpected { await forget(item, as: number) }
            switch result {
            case .success(let answer?): return answer
            case .success(nil): break
            case .failure(let error): throw error
            }
        } catch {
            throw failure(error)
        }
        try guardOpen()
        if Task.isCancelled { throw CoordinationError(.cancelled, "The task that waited was cancelled.") }
        if let held, intentions.lastLoss?.epoch == held { throw fenced() }
        throw timeout(of: callID)
    }

    private func result<Value, Failure>(
        _ body: () async throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        do throws(Failure) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    /// Looks, waits and looks again. Nil when the deadline passed, the task was cancelled, the participant ended or the
    /// ownership that the call insists on was lost.
    private func wait(
        _ wait: inout MessageWait, for callID: CallID, under held: Revision?, as number: Int, bell: Bell,
        alarm: inout Alarm
    ) async throws(SharedCoreError) -> MessageAnswer? {
        while end == nil, !Task.isCancelled, held == nil || intentions.lastLoss?.epoch != held {
            let state = try await inbox.look(callID)
            switch wait.step(state, at: clock.now()) {
            case .take:
                guard case .taken(let message) = try await inbox.take(callID) else { continue }
                return MessageAnswer(.message(message), from: source(of: callID))
            case .nothingToShow:
                return MessageAnswer(.nothingToShow, from: source(of: callID))
            case .timeout:
                return nil
            case .expect:
                wait.isExpected = true
                try await expect(ItemName(callID.text), before: wait.deadline, as: number)
            case .wait(let until, let needsCore):
                need(needsCore, as: number)
                alarm.set(to: until)
                await bell.wait()
            }
        }
        return nil
    }

    private func ring(_ bell: Bell, for watch: Watch) async {
        do throws(SharedCoreError) {
            while try await watch.next() != nil { bell.ring() }
        } catch {
            // The wait hears it from its next look.
            bell.ring()
        }
    }

    private func source(of callID: CallID) -> MessageAnswer.Source {
        delivered?.contains(callID) == true ? .core : .inbox
    }

    /// Takes note whether a core here would help a call.
    private func need(_ needsCore: Bool, as number: Int) {
        let need = needsCore ? Intentions.Need(insists: false) : nil
        guard intentions.needs[number] != need else { return }
        intentions.needs[number] = need
        bell.ring()
    }

    // MARK: - Insisting

    /// Waits until this participant's own core runs.
    func own(as number: Int, before deadline: BootInstant?) async throws(CoordinationError) {
        // What an earlier call was told may be over.
        machine.refusal = nil
        let before = state
        intentions.needs[number] = Intentions.Need(insists: true)
        bell.ring()
        await untilState(before: deadline) { state in
            state.isOver || state.isCoreRunning || state.refusal != nil || state.problem != before.problem
                || state.lossOf != before.lossOf
        }
        try guardOpen()
        if let refusal = machine.refusal {
            await tell(refusal)
            throw refused(by: refusal)
        }
        if state.isCoreRunning { return }
        if let problem = intentions.problem, problem != before.problem {
            throw CoordinationError(.coreFailed, problem.text)
        }
        if state.lossOf != before.lossOf { throw fenced() }
        if Task.isCancelled { throw CoordinationError(.cancelled, "The task that waited was cancelled.") }
        throw CoordinationError(.timeout, "The deadline passed before the core ran here.", owner: owner)
    }

    // MARK: - Expectations

    /// Lets the owner know that a call waits.
    private func expect(
        _ item: ItemName, before deadline: BootInstant, as number: Int
    ) async throws(SharedCoreError) {
        let latest = expected.expect(item, before: deadline, as: number)
        _ = try await store.put(
            Expectation.key(of: item, for: store.session.id),
            Expectation(bootID: clock.bootID, deadline: latest).bytes, lifetime: .session)
    }

    /// Takes the expectation back, unless another call here waits for the same.
    private func forget(_ item: ItemName, as number: Int) async {
        guard expected.forget(item, as: number), end == nil else { return }
        // In a task of its own, because the call's may be cancelled.
        await Task {
            do throws(SharedCoreError) {
                _ = try await store.delete(Expectation.key(of: item, for: store.session.id))
            } catch {
                // It ends with the session, and is no demand after its deadline.
                note(error)
            }
        }.value
    }

    // MARK: - Errors

    var owner: GroupOwner? { machine.view.owner.map(GroupOwner.init) }

    func guardOpen() throws(CoordinationError) {
        switch end {
        case nil: if intentions.isClosing { throw CoordinationError(.closed, "The participant is closed.") }
        case .closed: throw CoordinationError(.closed, "The participant is closed.")
        case .storeEnded(let error): throw failure(error)
        }
    }

    func failure(_ error: SharedCoreError) -> CoordinationError {
        switch error.code {
        case .closed: CoordinationError(.closed, "The group's handle is closed.", cause: error)
        case .sessionEnded: CoordinationError(.fenced, "The session is over for the group.", cause: error)
        case .cancelled: CoordinationError(.cancelled, "The task that waited was cancelled.", cause: error)
        default: CoordinationError(.store, "The group's store failed.", cause: error)
        }
    }

    func refused(by refusal: Refusal) -> CoordinationError {
        CoordinationError(
            .refused,
            refusal.owner.map { "The Main \(refusal.title) owns the core with epoch \($0.claim) and answers." }
                ?? "The Main \(refusal.title) is about to own the core.",
            owner: refusal.owner.map(GroupOwner.init))
    }

    /// Puts a refusal on the timeline.
    func tell(_ refusal: Refusal) async {
        let deed = refusal.owner == nil ? "has asked for the core" : "owns the core and answers"
        await tell(Story(kind: .refused, other: refusal.owner?.claim, reason: "the Main \(refusal.title) \(deed)"))
    }

    func fenced() -> CoordinationError {
        CoordinationError(.fenced, "A newer epoch took ownership from this participant.", owner: owner)
    }

    private func timeout(of callID: CallID) -> CoordinationError {
        let reason = intentions.problem.map { ". The last core here had a problem: \($0.text)" } ?? "."
        return CoordinationError(
            .timeout, "No message “\(callID.text.prefix(64))” came before the deadline" + reason, owner: owner)
    }
}
