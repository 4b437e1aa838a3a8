internal import Coordination
internal import CoreAPI
internal import Mailboxes

/// The commits of calls: their expectations, takes and acknowledgements.
extension Simulation {
    /// Tells the owner that a call waits.
    mutating func expect(_ call: Int) {
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
        // A call throws if its store fails.
        guard case .committed = verdict else { return end(call) }
        calls[call].expectedAt = calls[call].expectedAt ?? clock
        calls[call].phase = calls[call].isSubscribed || mutant?.looksFirst == true ? .looking : .subscribing
        schedule(.call(call), after: stepTime(of: number))
    }

    mutating func take(_ entry: Entry, for call: Int) {
        let number = calls[call].member
        let message = calls[call].message
        let name = ItemName(messages[message].callID.text)
        var transaction = Transaction()
        guard (try? inbox.mailbox.addTake(of: entry, item: name, to: &transaction)) != nil else { return }
        // The commit that takes the message also removes the expectation.
        if members[number].expected.forget(name, as: call),
            let key = try? Expectation.key(of: name, for: members[number].session)
        {
            transaction.delete(key)
        }
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
            calls[call].phase = calls[call].wait.isExpected ? .expecting : .looking
            schedule(.call(call), after: stepTime(of: number))
        case .failed, .unknown:
            if calls[call].wait.isExpected {
                members[number].expected.expect(name, before: calls[call].wait.deadline, as: call)
            }
            // The call throws. Its session keeps a message that it may have taken.
            disturb(for: 1_000_000)
            end(call)
        }
    }

    /// Ends a call, with its message or without.
    mutating func end(_ call: Int, with answer: MessageResult.Content? = nil) {
        let number = calls[call].member
        guard calls[call].isWaiting else { return }
        if answer == nil { judgeTimeout(of: call) }
        calls[call].alarm = .max
        members[number].demandPolicy.needs[call] = nil
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
            if answer == nil {
                say("\(members[number].name) waits no more for “\(messages[calls[call].message].callID)”")
            }
            members[number].calls.removeAll { $0 == call }
        }
        setAlarm(of: number, to: clock + 1000)
    }

    /// Acknowledges a message that was shown, or gives it back.
    mutating func finishShowing(_ taken: TakenMessage, of call: Int) {
        let number = calls[call].member
        let message = calls[call].message
        var transaction = Transaction()
        let before = inboxState(of: message)
        if goesWrong(schedule.faultProfile.returnedMessages, for: number, .returnedMessages) {
            guard (try? inbox.mailbox.addGiveBack(of: taken.delivery, to: &transaction)) != nil else { return }
            let verdict = commit(transaction, of: number, for: .givingBack)
            took(.inbox, before.rawValue, InboxMove.givenBack(verdict).rawValue, by: number)
            say("\(members[number].name) gives “\(messages[message].callID)” back")
        } else {
            guard (try? inbox.acknowledgementOperations(of: taken, into: &transaction)) != nil else { return }
            let verdict = commit(transaction, of: number, for: .acknowledging(message: message))
            took(.inbox, before.rawValue, InboxMove.acknowledged(verdict).rawValue, by: number)
            if case .failed = verdict, members[number].isAlive {
                // The application tries again.
                return schedule(.call(call), after: 100_000)
            }
            say("\(members[number].name) acknowledges “\(messages[message].callID)”")
        }
        calls[call].phase = .over
        members[number].calls.removeAll { $0 == call }
        setAlarm(of: number, to: clock + 1000)
    }
}
