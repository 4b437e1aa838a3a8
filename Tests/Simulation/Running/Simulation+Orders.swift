internal import Coordination
internal import CoreAPI
internal import StoreEngine

/// Commands for calls (C24). A member sends one, the holder takes it and reports the outcome, and the sender removes
/// it.
extension Simulation {
    /// Lets a member send a command for a call that has begun.
    mutating func planOrder(for dialog: Int, by core: Int, of number: Int) {
        guard !isQuiet, members[number].random.once(in: 2) else { return }
        let senders = members.indices.filter { members[$0].isAlive && members[$0].hold == nil }
        let sender = senders[members[number].random.number(0..<senders.count)]
        let session = members[sender].session
        guard let key = try? CallKey.command(UInt64(orders.count), of: session, for: dialogs[dialog].key) else {
            return
        }
        orderNumbers[key] = orders.count
        orders.append(Order(sender: sender, dialog: dialog, session: session, key: key))
        schedule(.order(orders.count - 1, .send), after: members[number].random.time(0..<2000))
    }

    mutating func happen(_ step: Event.OrderStep, to order: Int) {
        guard !orders[order].isOver, members[orders[order].sender].session == orders[order].session else { return }
        switch step {
        case .send: send(order)
        case .read: readProgress(of: order)
        case .withdraw(let transaction, let progress): withdraw(order, by: transaction, after: progress)
        }
    }

    private mutating func sight(of dialog: Int) -> CallSight {
        let key = dialogs[dialog].key
        var sight = CallSight(of: key)
        let entries = state.selection((try? CallSight.prefixes(of: key)) ?? [])
            .compactMap { try? $0.entry.entry(for: $0.key) }
        sight.apply(.snapshot(Snapshot(revision: state.revision, entries: entries)))
        return sight
    }

    private func progress(of order: Int) -> Entry? {
        (try? CallKey.progress(of: orders[order].key)).flatMap { stored($0) }
    }

    // MARK: - The sender

    private mutating func send(_ order: Int) {
        let (number, dialog) = (orders[order].sender, orders[order].dialog)
        guard let open = sight(of: dialog).open else { return orders[order].isOver = true }
        let time = members[number].random.time(100..<2000)
        orders[order].deadline = now.advanced(by: .microseconds(time))
        let command = CommandRecord(.hold, for: open.record, before: orders[order].deadline, in: bootID)
        let sending = Transaction.sending(command, as: orders[order].key, for: dialogs[dialog].key)
        let verdict = commit(sending, of: number, for: .sendingCommand)
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed: schedule(.order(order, .read), after: time)
        case .unknown: schedule(.order(order, .read), after: stepTime(of: number))
        case .refused, .failed: return orders[order].isOver = true
        }
        say("\(members[number].name) sends a command for “\(dialogs[dialog].id)”")
        count(.commands)
        let holder = dialogs[dialog].holder
        schedule(.core(holder, .readCommands(dialog)), after: stepTime(of: cores[holder].member))
    }

    /// Reads the holder's progress, so that the command can be withdrawn behind it.
    private mutating func readProgress(of order: Int) {
        let entry = progress(of: order)
        guard let withdrawing = try? Transaction.withdrawing(orders[order].key, after: entry) else { return }
        let time = members[orders[order].sender].random.time(0..<50)
        schedule(.order(order, .withdraw(withdrawing, entry.map { CommandProgress($0.value) })), after: time)
    }

    private mutating func withdraw(_ order: Int, by transaction: Transaction, after progress: CommandProgress?) {
        let number = orders[order].sender
        let verdict = commit(transaction, of: number, for: .withdrawingCommand)
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed:
            orders[order].isOver = true
            judgeOutcome(of: order, progress)
        case .refused: schedule(.order(order, .read), after: stepTime(of: number))
        case .failed: schedule(.order(order, .read), after: 100_000)
        // The sender learns that the store failed.
        case .unknown: orders[order].isOver = true
        }
    }

    // MARK: - The holder

    /// Searches for a command that a core may take.
    mutating func readCommands(for dialog: Int, by core: Int, in number: Int) {
        guard cores[core].phase == .running, !cores[core].isEnding, cores[core].dialogs.contains(dialog) else { return }
        let sight = sight(of: dialog)
        guard sight.owner == cores[core].epoch, let open = sight.open else { return }
        for entry in sight.commands {
            guard let order = orderNumbers[entry.key], let command = CommandRecord(entry.value),
                command.isFor(open.record), progress(of: order) == nil || mutant?.takesCommandsAgain == true,
                !command.isOver(at: now, in: bootID) || mutant?.takesLateCommands == true,
                let taking = try? Transaction.taking(entry, for: dialogs[dialog].key, at: open.revision)
            else { continue }
            check(
                !command.isOver(at: now, in: bootID),
                "C24: \(members[number].name)'s core takes a command whose time is over")
            let time = members[number].random.time(0..<50)
            return schedule(.core(core, .takeCommand(order, taking)), after: time)
        }
    }

    mutating func takeCommand(_ order: Int, by transaction: Transaction, for core: Int, of number: Int) {
        let dialog = orders[order].dialog
        let verdict = commit(transaction.guarded(by: cores[core].epoch), of: number, for: .takingCommand)
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed(let revision):
            say("\(members[number].name)'s core takes a command for “\(dialogs[dialog].id)”")
            judgeExecution(of: order, by: number)
            schedule(.core(core, .finishCommand(order, taken: revision)), after: members[number].random.time(0..<300))
            schedule(.core(core, .readCommands(dialog)), after: stepTime(of: number))
        case .refused(let failure):
            if failure.condition.key == OwnershipKey.owner { return fenced(core) }
            schedule(.core(core, .readCommands(dialog)), after: stepTime(of: number))
        case .failed: schedule(.core(core, .readCommands(dialog)), after: 100_000)
        // The core does not know whether it has taken the command, so it does not carry it out.
        case .unknown: break
        }
    }

    mutating func finishCommand(_ order: Int, taken: Revision, by core: Int, of number: Int) {
        let isRefused = members[number].random.once(in: 4)
        let outcome = isRefused ? CommandProgress(.refused, "busy") : CommandProgress(.done)
        guard let finishing = try? Transaction.finishing(orders[order].key, as: outcome, taken: taken) else { return }
        let verdict = commit(finishing.guarded(by: cores[core].epoch), of: number, for: .finishingCommand)
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed, .unknown:
            let sender = orders[order].sender
            schedule(.order(order, .read), after: stepTime(of: sender))
        case .refused(let failure): if failure.condition.key == OwnershipKey.owner { fenced(core) }
        case .failed: schedule(.core(core, .finishCommand(order, taken: taken)), after: 100_000)
        }
    }
}
