internal import CoreAPI
internal import Mailboxes

/// How a call waits for its message.
extension Participant {
    /// How long after the deadline the result of the last read still counts (contract C7: within 100 ms).
    private static let deadlineGrace = Duration.milliseconds(50)
    /// The interval of the attempts to give back a message or a push that no caller will get.
    private static let giveBackInterval = Duration.seconds(1)

    /// Waits for the message of an identity and takes it.
    ///
    /// A separate task gets the message, so that the deadline and a cancellation take effect even if the store does not
    /// answer.
    func message(
        for id: MessageID, before deadline: BootInstant, insisting: Bool,
        reporting: (@Sendable (OwnershipWaitReason) -> Void)?
    ) async throws(CoordinationError) -> MessageResult {
        try guardOpen()
        let call = MessageCall(for: id, before: deadline, insisting: insisting, as: newNumber())
        let ending = newNumber()
        listeners[ending] = call.callerEvent
        report(to: call.number, by: reporting)
        let limit = deadline.advanced(by: Self.deadlineGrace)
        var alarm = Alarm(signalling: call.callerEvent, by: clock, on: executor)
        let serving = Task(executorPreference: executor) { await self.serve(call) }
        defer {
            serving.cancel()
            listeners[ending] = nil
            stopReporting(to: call.number)
            leave(call)
            alarm.stop()
        }
        while !call.isSettled, end == nil, !Task.isCancelled, clock.now() < limit {
            alarm.set(to: limit)
            await call.callerEvent.wait()
        }
        if let result = call.giveUp() { return try result.get() }
        try guardOpen()
        if Task.isCancelled { throw cancelled() }
        // Only if the store has answered recently: otherwise it is not known whether the call has come.
        if call.hasLooked(within: options.lookInterval * 2), let silence = silence(for: id.callID) { return silence }
        throw timeout(of: id)
    }

    /// Serves a call. A message that it takes after the caller has given up is given back.
    private func serve(_ call: MessageCall) async {
        let result = await result { () async throws(CoordinationError) in try await self.answer(call) }
        leave(call)
        guard !call.settle(result), case .success(let answer) = result, case .message(let taken) = answer.content else {
            return
        }
        // A separate task, because the task of the call is cancelled.
        Task(executorPreference: executor) { await self.letGo(of: taken) }
    }

    /// Removes the need and the expectation of a call.
    private func leave(_ call: MessageCall) {
        if demandPolicy.needs.removeValue(forKey: call.number) != nil { reconsider() }
        forget(call.id.item, as: call.number)
    }

    /// Gives a message back that no caller will show.
    func letGo(of taken: TakenMessage) async {
        await letGo { [inbox] () async throws(SharedCoreError) in try await inbox.giveBack(taken) }
    }

    /// Gives back a message or a push that no caller will get. Tries again until the store accepts it, even after this
    /// participant was closed: its session may live on, and would keep the item in hand.
    func letGo(by giveBack: @Sendable () async throws(SharedCoreError) -> Void) async {
        while true {
            do throws(SharedCoreError) {
                return try await giveBack()
            } catch {
                if end == nil { note(error) }
                if case .storeEnded = end { return }
                guard error.code != .closed, error.code != .sessionEnded else { return }
            }
            do { try await clock.sleep(until: clock.now().advanced(by: Self.giveBackInterval)) } catch { return }
        }
    }

    private func answer(_ call: MessageCall) async throws(CoordinationError) -> MessageResult {
        listeners[call.number] = call.serverEvent
        var alarm = Alarm(signalling: call.serverEvent, by: clock, on: executor)
        defer {
            listeners[call.number] = nil
            alarm.stop()
        }
        do throws(SharedCoreError) {
            try await patiently(call, under: nil, &alarm) { () async throws(SharedCoreError) in try await begin() }
        } catch {
            throw failure(error, of: call)
        }
        try guardWanted(call)
        if call.insisting { try await own(as: call.number, before: call.deadline) }
        let held = call.insisting ? machine.holding?.epoch : nil
        do throws(SharedCoreError) {
            // The watch is armed before the first read, so no message is missed.
            let watch = try await patiently(call, under: held, &alarm) { () async throws(SharedCoreError) in
                try await store.watch(
                    [inbox.prefix(of: call.id.callID), KeyPrefix(CallKey.record(of: call.id.callID))], from: .now)
            }
            let pump = Task(executorPreference: executor) { await self.signal(call.serverEvent, for: watch) }
            defer {
                watch.cancel()
                pump.cancel()
            }
            if let answer = try await wait(for: call, under: held, alarm: &alarm) { return answer }
        } catch {
            if let held, demandPolicy.lastLoss?.epoch == held { throw fenced() }
            throw failure(error, of: call)
        }
        try guardOpen()
        try guardWanted(call)
        if let held, demandPolicy.lastLoss?.epoch == held { throw fenced() }
        if let silence = silence(for: call.id.callID) { return silence }
        throw timeout(of: call.id)
    }

    /// Returns the answer for a push that announced a call which has not come before the deadline, because the remote
    /// caller gave up. Nil for other pushes, and if a failure may have kept the call from coming.
    ///
    /// Source: contract C23.
    private func silence(for callID: CallID) -> MessageResult? {
        guard let push = environment.push, push.callID == callID, push.type == Push.callType, knownRefusal == nil,
            demandPolicy.problem == nil
        else { return nil }
        return MessageResult(.nothingToShow, from: .inbox)
    }

    private func guardWanted(_ call: MessageCall) throws(CoordinationError) {
        if call.isOver { throw cancelled() }
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

    /// Reads, waits and reads again. Nil if the deadline has passed, the caller has given up, the participant has
    /// ended, or the ownership that the call insists on was lost.
    private func wait(
        for call: MessageCall, under held: Revision?, alarm: inout Alarm
    ) async throws(SharedCoreError) -> MessageResult? {
        var wait = MessageWait(deadline: call.deadline, lookInterval: machine.rules.lookInterval)
        var consistency = ReadConsistency.linearizable
        // When the next read is due that does not rely on wake-ups. Reads for other reasons do not postpone it.
        var lookDue = clock.now()
        while end == nil, !call.isOver, held == nil || demandPolicy.lastLoss?.epoch != held {
            let found = try await patiently(call, under: held, &alarm) { () async throws(SharedCoreError) in
                try await inbox.find(call.id, consistency: consistency)
            }
            guard !call.isOver else { return nil }
            if consistency == .linearizable {
                lookDue = clock.now().advanced(by: wait.lookInterval)
                call.noteLook(at: clock.now())
            }
            var lost: Call?
            if found.state == .absent, let foundCall = try await findCall(call.id.callID) {
                guard case .ended(.lost) = foundCall.call.state, !foundCall.isAcknowledged else {
                    return try await answer(foundCall)
                }
                // The call is lost, but it may come again to the next core, so continue to wait.
                lost = foundCall.call
            }
            switch wait.step(found.state, at: clock.now()) {
            case .take:
                let outcome = try await patiently(call, under: held, &alarm) { () async throws(SharedCoreError) in
                    try await take(for: call)
                }
                guard case .taken(let message) = outcome else { continue }
                return MessageResult(.message(message), from: source(storedBy: message.delivery.sender))
            case .nothingToShow:
                // The caller may report the message as received to its sender, so the message must be durable first.
                try await patiently(call, under: held, &alarm) { () async throws(SharedCoreError) in
                    try await inbox.waitUntilDurable(through: found.revision)
                }
                return MessageResult(.nothingToShow, from: source(storedBy: found.author))
            case .timeout:
                if consistency == .linearizable {
                    return lost.map { MessageResult(.call($0), from: .inbox) }
                }
                consistency = .linearizable
            case .expect:
                wait.isExpected = true
                try await patiently(call, under: held, &alarm) { () async throws(SharedCoreError) in
                    try await expect(call.id.item, before: wait.deadline, as: call.number)
                }
                machine.waitsBehindOthers = try await waitsBehindOthers(for: call.id.item)
                // The handle has seen everything that was stored before its own commit.
                consistency = .causal
            case .wait(_, let needsCore):
                need(needsCore, for: call)
                // The alarm is postponed with each read of the ownership, because such a read also wakes this wait.
                alarm.move(to: min(wait.deadline, lookDue))
                await call.serverEvent.wait()
                // A linearizable read of the ownership has shown this handle every commit before it, so one read serves
                // both (S4). If a core is needed, the participant reads the ownership at the same interval, and each
                // such read wakes this wait. So this wait plans its own read a little later.
                let interval = needsCore ? wait.lookInterval * 9 / 8 : wait.lookInterval
                if let lookedAt, lookDue < lookedAt.advanced(by: interval) {
                    lookDue = lookedAt.advanced(by: interval)
                    call.noteLook(at: lookedAt)
                }
                // A change that was signalled came through this handle, after everything stored before it.
                consistency = clock.now() < lookDue ? .causal : .linearizable
            }
        }
        return nil
    }

    private struct FoundCall {
        let call: Call
        let isAcknowledged: Bool
        let entry: Entry
    }

    /// Returns the call of an id, whether open or ended; nil if there is none.
    ///
    /// Causal: the read of the inbox just before has seen all earlier commits.
    private func findCall(_ callID: CallID) async throws(SharedCoreError) -> FoundCall? {
        guard let entry = try await store.get(CallKey.record(of: callID), consistency: .causal),
            let record = CallRecord(entry.value), record.call.id == callID
        else { return nil }
        let standing = try await store.list(OwnershipKey.path, consistency: .causal).entries
        let owner = standing.first { $0.key == OwnershipKey.owner }.map { GroupOwner(Standing($0)) }
        let holder = entry.isOlder(than: owner?.epoch) ? nil : owner
        let moving = BatonRecord.movingKeys(of: standing.first { $0.key == OwnershipKey.baton })
        let call = Call(record, holder: holder, isMoving: holder == nil && moving.contains(entry.key))
        return FoundCall(call: call, isAcknowledged: record.isAcknowledged, entry: entry)
    }

    private func answer(_ found: FoundCall) async throws(SharedCoreError) -> MessageResult {
        let source = source(storedBy: found.entry.origin)
        // An open call is returned at once: a loss of power would end the call anyway.
        if found.call.isOpen { return MessageResult(.call(found.call), from: source) }
        try await inbox.waitUntilDurable(through: found.entry.revision)
        return MessageResult(found.isAcknowledged ? .nothingToShow : .call(found.call), from: source)
    }

    private func signal(_ event: AsyncEvent, for watch: Watch) async {
        do throws(SharedCoreError) {
            while try await watch.next() != nil { event.signal() }
        } catch {
            // Makes the wait read again.
            event.signal()
        }
    }

    /// Returns the origin of a message in the inbox. A message stored by this session came from its own core.
    private func source(storedBy author: SessionID?) -> MessageResult.Source {
        author == store.session.id ? .core : .inbox
    }

    /// Records whether a call needs a core in this participant.
    private func need(_ needsCore: Bool, for call: MessageCall) {
        let need = needsCore ? DemandPolicy.Need(insists: false, id: call.id) : nil
        guard demandPolicy.needs[call.number] != need else { return }
        demandPolicy.needs[call.number] = need
        wakeUp.signal()
    }

    /// Drops the needs of calls that have their message already, although their tasks have not read the inbox since.
    ///
    /// Called before a core is started. The last owner stored all its messages before its release. On a busy machine, the
    /// loop may see the release before a call's task sees its message.
    ///
    /// - Returns: True if no need is left, and this participant has no calls of its own baton to continue.
    func dropAnsweredNeeds() async throws(SharedCoreError) -> Bool {
        for (number, need) in demandPolicy.needs {
            guard !need.insists, let id = need.id else { continue }
            // The view of the ownership came through the same handle, so a causal read is at least as new.
            if try await inbox.state(of: id, consistency: .causal) == .absent {
                guard let found = try await findCall(id.callID), found.call.state != .ended(.lost) else { continue }
            }
            if demandPolicy.needs[number] == need { demandPolicy.needs[number] = nil }
            listeners[number]?.signal()
        }
        return demandPolicy.needs.isEmpty && !demandPolicy.ownsAgain
    }

    // MARK: - Insisting

    /// Waits until this participant's own core runs.
    func own(
        as number: Int, waitingItsTurn: Bool = false, before deadline: BootInstant?
    ) async throws(CoordinationError) {
        // A refusal that an earlier call got may no longer apply.
        machine.refusal = nil
        if blockingFailure?.error.code == .forbidden { blockingFailure = nil }
        let before = state
        demandPolicy.needs[number] = DemandPolicy.Need(insists: true, waitsItsTurn: waitingItsTurn)
        wakeUp.signal()
        await untilState(before: deadline) { state in
            state.isOver || state.isCoreRunning || state.refusal != nil || state.problem != before.problem
                || state.lossOf != before.lossOf || state.isForbidden
        }
        try guardOpen()
        if let refusal = machine.refusal {
            await tell(refusal)
            throw refused(by: refusal)
        }
        if state.isCoreRunning { return }
        if let problem = demandPolicy.problem, problem != before.problem {
            throw CoordinationError(.coreFailed, problem.text)
        }
        if state.lossOf != before.lossOf { throw fenced() }
        // Waiting does not remove this error, unlike a full disk.
        if state.isForbidden, let error = state.lastingError { throw failure(error) }
        if Task.isCancelled { throw cancelled() }
        throw CoordinationError(
            .timeout, "The deadline passed before the core ran here.", owner: owner, cause: knownRefusal)
    }

    // MARK: - Errors

    var owner: GroupOwner? { machine.view.owner.map(GroupOwner.init) }

    func guardOpen() throws(CoordinationError) {
        switch end {
        case nil: if demandPolicy.isClosing { throw CoordinationError(.closed, "The participant is closed.") }
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
            refusal.owner.map { owner in
                "The Main \(refusal.title), pid \(owner.record.process.pid), owns the core with epoch \(owner.claim) and "
                    + "answers."
            }
                ?? "The Main \(refusal.title) has asked for the core before.",
            owner: refusal.owner.map(GroupOwner.init))
    }

    /// Puts a refusal on the timeline.
    func tell(_ refusal: Refusal) async {
        let deed = refusal.owner == nil ? "has asked for the core" : "owns the core and answers"
        await tell(
            OwnershipEvent(kind: .refused, other: refusal.owner?.claim, reason: "the Main \(refusal.title) \(deed)"))
    }

    func fenced() -> CoordinationError {
        CoordinationError(.fenced, "A newer epoch took ownership from this participant.", owner: owner)
    }

    /// Returns the error of a cancelled wait. Its cause is the store's refusal, if one is known: the message may not
    /// have come because the core could not store it.
    private func cancelled() -> CoordinationError {
        CoordinationError(.cancelled, "The task that waited was cancelled.", cause: knownRefusal)
    }

    /// Returns the error of a call that an error of the store has ended.
    private func failure(_ error: SharedCoreError, of call: MessageCall) -> CoordinationError {
        isOutage(error) && clock.now() >= call.deadline ? timeout(of: call.id, because: error) : failure(error)
    }

    private func timeout(of id: MessageID, because outage: SharedCoreError? = nil) -> CoordinationError {
        let refusal = knownRefusal ?? outage
        let absence = "o message “\(id.description.prefix(64))” came before the deadline"
        if refusal == nil, let problem = demandPolicy.problem {
            return CoordinationError(.coreFailed, "\(problem.text); n\(absence)", owner: owner)
        }
        let reason =
            if let refusal {
                ". What a core receives cannot be stored now: \(refusal.message)"
            } else if demandPolicy.isSpent {
                ". The core here was stopped before, when its budget of \(options.executorBudget) was used up."
            } else {
                "."
            }
        return CoordinationError(
            .timeout, "N" + absence + reason, owner: owner, cause: refusal)
    }
}
