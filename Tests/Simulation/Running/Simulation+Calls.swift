internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import StoreEngine

/// The applications' calls that wait for messages, from the push to the acknowledgement.
extension Simulation {
    mutating func push(_ number: Int, for message: Int, within deadline: Int, insisting: Bool) {
        guard members[number].isAlive, !members[number].demandPolicy.isClosing else { return }
        say(
            "A push wakes \(members[number].name) for “\(messages[message].callID)” within \(deadline / 1000) ms"
                + (insisting ? ", with a core of its own" : ""))
        let end = now.advanced(by: .microseconds(deadline))
        var call = Call(
            member: number, message: message, insists: insisting, since: clock,
            wait: MessageWait(deadline: end, lookInterval: rules.lookInterval))
        if mutant?.expectsFirst == true { call.phase = .expecting }
        if mutant?.looksFirst == true { call.phase = .looking }
        call.problemBefore = members[number].demandPolicy.problem
        call.lossBefore = members[number].demandPolicy.lastLoss?.epoch
        calls.append(call)
        let index = calls.count - 1
        members[number].calls.append(index)
        members[number].isFinishing = true
        queue.insert(
            .judge(.overdue(index)), at: clock + UInt64(deadline) * 1000 + 150_000_000)
        guard insisting else { return schedule(.call(index), after: stepTime(of: number)) }
        members[number].machine.refusal = nil
        members[number].demandPolicy.needs[index] = DemandPolicy.Need(insists: true)
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
        (try? InboxState(of: item(of: message), id: MessageID(messages[message].callID))).map(InboxKind.init) ?? .absent
    }

    /// Performs the next step of a call.
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

    /// Wakes a call after a change of its message.
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
        if let held = calls[call].held, members[number].demandPolicy.lastLoss?.epoch == held { return end(call) }
        expire()
        let item = item(of: calls[call].message)
        guard let state = try? InboxState(of: item, id: MessageID(messages[calls[call].message].callID)) else {
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
        let need = needsCore ? DemandPolicy.Need(insists: false) : nil
        if members[number].demandPolicy.needs[call] != need {
            members[number].demandPolicy.needs[call] = need
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
}
