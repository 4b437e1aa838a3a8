internal import CoreAPI
internal import Coordination
internal import StoreEngine
internal import Mailboxes

/// The calls of applications that wait for messages, from their push to the acknowledgement.
extension Simulation {
    mutating func push(_ number: Int, for message: Int, within deadline: Int, insisting: Bool) {
        guard members[number].isAlive, !members[number].intentions.isClosing else { return }
        say(
            "A push wakes \(members[number].name) for “\(messages[message].callID)” within \(deadline / 1000) ms"
                + (insisting ? ", with a core of its own" : ""))
        let end = now.advanced(by: .microseconds(deadline))
        var call = Call(
            member: number, message: message, insists: insisting, since: clock,
            wait: MessageWait(deadline: end, lookInterval: rules.lookInterval))
        if mutant?.expectsFirst == true { call.phase = .expecting }
        if mutant?.looksFirst == true { call.phase = .looking }
        call.problemBefore = members[number].intentions.problem
        call.lossBefore = members[number].intentions.lastLoss?.epoch
        calls.append(call)
        let index = calls.count - 1
        members[number].calls.append(index)
        members[number].isFinishing = true
        queue.insert(
            .judge(.overdue(index)), at: clock + UInt64(deadline) * 1000 + 150_000_000)
        guard insisting else { return schedule(.call(index), after: stepTime(of: number)) }
        members[number].machine.refusal = nil
        members[number].intentions.needs[index] = Intentions.Need(insists: true)
        calls[index].phase = .owning
        setAlarm(ofCall: index, to: clock + UInt64(deadline) * 1000)
        proceed(number)
    }

    mutating func setAlarm(ofCall call: Int, to time: UInt64) {
        calls[call].alarm = time
        queue.insert(.callAlarm(call, time), at: time)
    }

    func item(of message: Int) -> QueueItem {
        func entry(_ part: QueueKeys.Part) -> Entry? {
            guard let key = try? inbox.mailbox.keys.key(of: part, for: ItemName(messages[message].callID.text)) else {
                return nil
            }
            return try? state.entry(key)?.entry(for: key)
        }
        return QueueItem(message: entry(.message), take: entry(.take), mark: entry(.mark))
    }

    func inboxState(of message: Int) -> InboxKind {
        (try? InboxState(of: item(of: message), callID: messages[message].callID)).map(InboxKind.init) ?? .absent
    }

    /// The next step of a call.
    mutating func proceed(withCall call: Int) {
        switch calls[call].phase {
        case .owning, .over: break
        case .subscribing:
            calls[call].isSubscribed = true
            calls[call].heard = messages[calls[call].message].lastChange
            guard mutant?.looksFirst == true else {
                calls[call].phase = .looking
                return schedule(.call(call), after: stepTime(of: calls[call].member))
            }
            calls[call].phase = .waiting
        case .looking, .waiting: look(call)
        case .taking(let entry): take(entry, for: call)
        case .expecting: expect(call)
        case .showing(let taken): finishShowing(taken, of: call)
        }
    }

    /// Something changed about what a call waits for.
    mutating func ring(_ call: Int) {
        let change = messages[calls[call].message].lastChange
        guard calls[call].heard < change else { return }
        calls[call].heard = change
        guard case .waiting = calls[call].phase else {
            calls[call].isRung = true
            return
        }
        calls[call].phase = .looking
        schedule(.call(call), after: stepTime(of: calls[call].member))
    }

    private mutating func look(_ call: Int) {
        let number = calls[call].member
        if let held = calls[call].held, members[number].intentions.lastLoss?.epoch == held { return end(call) }
        expire()
        let item = item(of: calls[call].message)
        guard let state = try? InboxState(of: item, callID: messages[calls[call].message].callID) else {
            return broke("a record of the inbox cannot be read")
        }
        let step = calls[call].wait.step(state, at: now)
        let from = InboxKind(state).rawValue * 2 + (calls[call].wait.isExpected ? 1 : 0)
        took(.wait, from, WaitMove(step).rawValue, by: number)
        switch step {
        case .take:
            guard let entry = item.message else { return }
            calls[call].phase = .taking(entry)
            schedule(.call(call), after: stepTime(of: number))
        case .nothingToShow:
            end(call, with: .nothingToShow)
        case .timeout:
            end(call)
        case .expect:
            calls[call].wait.isExpected = true
            calls[call].phase = .expecting
            schedule(.call(call), after: stepTime(of: number))
        case .wait(let until, let needsCore):
            wait(call, until: until, needsCore: needsCore)
        }
    }

    private mutating func wait(_ call: Int, until: BootInstant, needsCore: Bool) {
        let number = calls[call].member
        let need = needsCore ? Intentions.Need(insists: false) : nil
        if members[number].intentions.needs[call] != need {
            members[number].intentions.needs[call] = need
            setAlarm(of: number, to: clock + 1000)
        }
        guard calls[call].isSubscribed else {
            calls[call].phase = .subscribing
            setAlarm(ofCall: call, to: clock + now.duration(to: until).clampedNanoseconds)
            return schedule(.call(call), after: stepTime(of: number))
        }
        guard !calls[call].isRung else {
            calls[call].isRung = false
            calls[call].phase = .looking
            return schedule(.call(call), after: stepTime(of: number))
        }
        calls[call].phase = .waiting
        setAlarm(ofCall: call, to: clock + now.duration(to: until).clampedNanoseconds + 100_000)
    }

    /// Lets the owner know that a call waits.
    private mutating func expect(_ call: Int) {
        let number = calls[call].member
        calls[call].wait.isExpected = true
        let item = ItemName(messages[calls[call].message].callID.text)
        let deadline = members[number].expected.expect(item, before: calls[call].wait.deadline, as: call)
        guard let key = try? Expectation.key(of: item, for: members[number].session) else { return }
        let record = Expectation(bootID: bootID, deadline: deadline)
        let verdict = commit(
            Transaction(operations: [.put(key, record.bytes, .session)]), of: number,
            for: .expecting(call: call))
        guard members[number].isAlive else { return }
        // A call whose store fails throws.
        guard case .committed = verdict else { return end(call) }
        calls[call].expectedAt = clock
        calls[call].phase = calls[call].isSubscribed || mutant?.looksFirst == true ? .looking : .subscribing
        schedule(.call(call), after: stepTime(of: number))
    }

    private mutating func take(_ entry: Entry, for call: Int) {
        let number = calls[call].member
        let message = calls[call].message
        let name = ItemName(messages[message].callID.text)
        var transaction = Transaction()
        guard (try? inbox.mailbox.addTake(of: entry, item: name, to: &transaction)) != nil else { return }
        let before = inboxState(of: message)
        let since = messages[message].availableSince
        let verdict = commit(transaction, of: number, for: .taking(message: message))
        guard members[number].isAlive else { return }
        took(.inbox, before.rawValue, InboxMove.taken(verdict).rawValue, by: number)
        switch verdict {
        case .committed(let revision):
            judgePromptness(of: call, since: since)
            let delivery = QueueDelivery(of: entry, item: name, epoch: revision)
            let content = InboxMessage(callID: messages[message].callID, content: messages[message].content)
            say("\(members[number].name) takes “\(messages[message].callID)”")
            end(call, with: .message(TakenMessage(message: content, delivery: delivery)))
        case .refused:
            calls[call].phase = .looking
            schedule(.call(call), after: stepTime(of: number))
        case .failed, .unknown:
            // The call throws. What it may have taken stays in its session's hand.
            disturb(for: 1_000_000)
            end(call)
        }
    }

    /// A call is over: with what it was made for, or without.
    mutating func end(_ call: Int, with answer: MessageAnswer.Content? = nil) {
        let number = calls[call].member
        guard calls[call].isWaiting else { return }
        if answer == nil { judgeTimeout(of: call) }
        calls[call].alarm = .max
        members[number].intentions.needs[call] = nil
        calls[call].phase = .over
        let item = ItemName(messages[calls[call].message].callID.text)
        if calls[call].wait.isExpected, members[number].expected.forget(item, as: call),
            let key = try? Expectation.key(of: item, for: members[number].session)
        {
            _ = commit(Transaction(operations: [.delete(key)]), of: number, for: .forgetting)
            guard members[number].isAlive else { return }
        }
        if case .message(let taken) = answer {
            calls[call].phase = .showing(taken)
            schedule(.call(call), after: members[number].random.time(1..<400))
        } else {
            if answer == nil { say("\(members[number].name) waits no more for “\(messages[calls[call].message].callID)”") }
            members[number].calls.removeAll { $0 == call }
        }
        setAlarm(of: number, to: clock + 1000)
    }

    /// The message was shown: it is acknowledged, or given back.
    private mutating func finishShowing(_ taken: TakenMessage, of call: Int) {
        let number = calls[call].member
        let message = calls[call].message
        var transaction = Transaction()
        let before = inboxState(of: message)
        if goesWrong(schedule.weather.returnedMessages, for: number, .returnedMessages) {
            guard (try? inbox.mailbox.addGiveBack(of: taken.delivery, to: &transaction)) != nil else { return }
            let verdict = commit(transaction, of: number, for: .givingBack)
            took(.inbox, before.rawValue, InboxMove.givenBack(verdict).rawValue, by: number)
            say("\(members[number].name) gives “\(messages[message].callID)” back")
        } else {
            guard (try? inbox.acknowledgementOperations(of: taken, into: &transaction)) != nil else { return }
            let verdict = commit(transaction, of: number, for: .acknowledging(message: message))
            took(.inbox, before.rawValue, InboxMove.acknowledged(verdict).rawValue, by: number)
            if case .failed = verdict, members[number].isAlive {
                // An application tries again.
                return schedule(.call(call), after: 100_000)
            }
            say("\(members[number].name) acknowledges “\(messages[message].callID)”")
        }
        calls[call].phase = .over
        members[number].calls.removeAll { $0 == call }
        setAlarm(of: number, to: clock + 1000)
    }
}
