internal import Coordination
internal import CoreAPI
internal import StoreEngine

/// The calls of the members' cores, each with its record (C23).
extension Simulation {
    /// How long the record of an ended call is kept.
    private static let callsLifetime = Duration.seconds(24 * 60 * 60)

    /// Returns an entry of the store.
    func stored(_ key: Key) -> Entry? { try? state.entry(key)?.entry(for: key) }

    /// Returns an entry with the record of a call that is open.
    func openRecord(at key: Key) -> (entry: Entry, record: CallRecord)? {
        guard let entry = stored(key), let record = CallRecord(entry.value), record.state.isOpen else { return nil }
        return (entry, record)
    }

    mutating func beginCall(_ core: Int, of number: Int) {
        guard cores[core].phase == .running, !cores[core].isEnding, members[number].machine.core?.mayRun == true,
            let id = CallID("call-\(dialogs.count)"), let key = try? CallKey.record(of: id)
        else { return }
        let moves = !members[number].random.once(in: 4)
        let isLong = moves && members[number].random.once(in: 3)
        let length = members[number].random.time(isLong ? 5000..<20_000 : 0..<5000)
        let record = CallRecord(
            CallDescription(id, .incoming, from: "a", to: "b"), in: .answered, began: now, bootID: bootID)
        let activity = Activity(.call, id: id.text, begun: now, moves: moves ? Self.batonKind : nil)
        var transaction = OpenWork(present).beginning(activity, under: cores[core].epoch)
        transaction.require(.absent(key))
        transaction.put(key, record.bytes)
        let dialog = dialogs.count
        dialogNumbers[key] = dialog
        dialogs.append(
            Dialog(id: id, key: key, moves: moves, endsAt: clock + UInt64(length) * 1000, holder: core))
        let verdict = commit(transaction, of: number, for: .beginning)
        guard members[number].isAlive else { return }
        switch verdict {
        // A begin without an answer is repeated, and finds the open call.
        case .committed, .unknown: members[number].begun = present.revision
        case .refused(let failure):
            if failure.condition.key == OwnershipKey.owner { fenced(core) }
            return
        case .failed: return
        }
        say("\(members[number].name)'s core begins “\(id)”" + (moves ? ", which moves" : ""))
        count(.calls)
        cores[core].dialogs.insert(dialog)
        wake(number)
        schedule(.core(core, .endCall(dialog)), after: length)
        planOrder(for: dialog, by: core, of: number)
        if members[number].random.once(in: 3) {
            schedule(.core(core, .readMoves(dialog)), after: members[number].random.time(0..<3000))
        }
        if members[number].random.once(in: 3) {
            schedule(.core(core, .beginCall), after: members[number].random.time(0..<1500))
        }
    }

    /// Ends a call that its core has: its record, and the activity that kept the core for it, in one commit.
    mutating func endCall(_ dialog: Int, of core: Int, in number: Int) {
        guard cores[core].dialogs.contains(dialog) else { return }
        let epoch = cores[core].epoch
        guard var open = openRecord(at: dialogs[dialog].key), !open.entry.isOlder(than: epoch) else {
            cores[core].dialogs.remove(dialog)
            return
        }
        open.record.change(to: .ended(.hungUp), at: now)
        var transaction = Transaction(guards: [.revision(open.entry.key, open.entry.revision)])
        transaction.put(open.entry.key, open.record.bytes, lifetime: .expiring(after: Self.callsLifetime))
        let work = OpenWork(present)
        let activity = work.open(under: epoch).first { $0.isWork(of: open.record.call.id) }
        if let ending = activity.flatMap({ work.ending($0, under: epoch) }) {
            transaction.guards += ending.guards
            transaction.operations += ending.operations
        }
        let verdict = commit(transaction.guarded(by: epoch), of: number, for: .ending)
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed, .unknown:
            say("\(members[number].name)'s core ends “\(dialogs[dialog].id)”")
            cores[core].dialogs.remove(dialog)
            wake(number)
        case .refused(let failure):
            if failure.condition.key == OwnershipKey.owner { return fenced(core) }
            schedule(.core(core, .endCall(dialog)), after: stepTime(of: number))
        case .failed: schedule(.core(core, .endCall(dialog)), after: 100_000)
        }
    }

    // MARK: - Calls that begin or cease to move

    /// Reads whether a call may begin or cease to move. The commit comes later, and others may come between.
    mutating func readMoves(of dialog: Int, by core: Int, in number: Int) {
        guard cores[core].phase == .running, !cores[core].isEnding, let activity = activity(of: dialog, by: core)
        else { return }
        let changed = Activity(
            activity.kind, id: activity.id, begun: activity.begun,
            moves: activity.moves == nil ? Self.batonKind : nil)
        let work = OpenWork(present)
        if work.wouldHoldUp(changed), mutant?.movesAsItLikes != true { return }
        var transaction = Transaction()
        work.setting(
            changed.moves, needs: activity.needs, of: activity, under: cores[core].epoch, reach: .machine,
            in: &transaction)
        let time = members[number].random.time(0..<100)
        schedule(.core(core, .commitMoves(dialog, transaction)), after: time)
    }

    mutating func commitMoves(_ transaction: Transaction, of dialog: Int, by core: Int, in number: Int) {
        guard cores[core].dialogs.contains(dialog) else { return }
        let verdict = commit(transaction.guarded(by: cores[core].epoch), of: number, for: .moving)
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed, .unknown:
            let moves = activity(of: dialog, by: core)?.moves != nil
            dialogs[dialog].moves = moves
            say("\(members[number].name)'s core says that “\(dialogs[dialog].id)” \(moves ? "moves" : "does not move")")
            count(.changesOfMoves)
            wake(number)
            guard members[number].random.once(in: 2) else { return }
            schedule(.core(core, .readMoves(dialog)), after: members[number].random.time(0..<1000))
        case .refused(let failure):
            if failure.condition.key == OwnershipKey.owner { return fenced(core) }
            // Another commit was faster, so the core reads again.
            schedule(.core(core, .readMoves(dialog)), after: stepTime(of: number))
        case .failed: schedule(.core(core, .readMoves(dialog)), after: 100_000)
        }
    }

    /// Returns the activity of a call that a core has.
    private func activity(of dialog: Int, by core: Int) -> Activity? {
        let epoch = cores[core].epoch
        guard cores[core].dialogs.contains(dialog), let open = openRecord(at: dialogs[dialog].key),
            !open.entry.isOlder(than: epoch)
        else { return nil }
        return OpenWork(present).open(under: epoch).first { $0.isWork(of: open.record.call.id) }
    }

    /// Ends the calls that the cores of former ownerships have left open, in commits of four, then starts the core.
    mutating func endLostCalls(before core: Int, of number: Int) {
        guard !cores[core].isEnding else { return }
        let entries = state.selection([CallKey.records]).compactMap { try? $0.entry.entry(for: $0.key) }
        var spared: Set<Key> = []
        if let gets = cores[core].gets, mutant?.sparesNoCalls != true { spared = Set(callKeys(of: gets.record)) }
        let left = CallRecord.left(among: entries, before: cores[core].epoch, butFor: spared)
        guard !left.isEmpty, mutant?.leavesLostCalls != true else {
            if cores[core].phase == .announced { return schedule(.core(core, .announce), after: stepTime(of: number)) }
            return hasStarted(core, of: number)
        }
        let ending = CallRecord.ending(lost: left.prefix(4), at: now, for: Self.callsLifetime)
        let verdict = commit(ending.guarded(by: cores[core].epoch), of: number, for: .losing)
        guard members[number].isAlive else { return }
        switch verdict {
        case .committed: schedule(.core(core, .endLostCalls), after: stepTime(of: number))
        case .refused(let failure): if failure.condition.key == OwnershipKey.owner { fenced(core) }
        case .failed, .unknown: failPreparing(core)
        }
    }

    func callKeys(of baton: BatonRecord) -> [Key] {
        baton.calls.compactMap { CallID($0) }.compactMap { try? CallKey.record(of: $0) }
    }
}
