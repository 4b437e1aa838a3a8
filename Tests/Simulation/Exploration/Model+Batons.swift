internal import Coordination
internal import CoreAPI

/// A call that moves with a baton.
///
/// Source: contract C25.
extension Model {
    /// True if the pending request accepts the open call.
    var isTaken: Bool { store.view.baton == nil && store.view.handover?.record.takes.isEmpty == false }

    /// Gives the baton of a core that has the call and stops for a Main that accepts it.
    mutating func giveBaton(of core: Core, by number: Int) {
        let machine = participants[number].machine
        guard core.hasCall, machine.core?.epoch == core.epoch, machine.holding?.epoch == core.epoch,
            machine.given == nil, machine.core?.request?.takes.isEmpty == false
        else { return }
        let record = BatonRecord(
            epoch: core.epoch, kind: Self.batonKind, byteCount: 1, digest: [UInt8](repeating: 0, count: 32),
            descriptorCount: 0, calls: ["call"], bootID: machine.myself.process.bootID,
            deadline: now.advanced(by: Self.tickLength * Self.batonLifetime), keepers: [])
        participants[number].machine.give(GivenBaton(record, lifetime: .seconds(10)))
    }

    /// Tells the core that gave a baton its outcome. The core ends the call over the network if it is the core's own.
    mutating func hearOfBaton(_ number: Int) {
        guard let given = participants[number].machine.given, case .over(let end) = given.phase else { return }
        participants[number].machine.given = nil
        guard end.isOwn else { return }
        if let other = holderOfCall {
            broke("C25", "participant \(number) ends the call over the network (\(end)) that \(other) has")
        }
        if let standing = store.view.baton?.record, standing.epoch == given.record.epoch, standing.state == .offered {
            broke("C25", "participant \(number) ends a call over the network (\(end)) that is still offered")
        }
    }

    /// The core that has a baton applies it, or records that it cannot, in one commit.
    mutating func useBaton(_ number: Int, applies: Bool) {
        guard let index = participants[number].cores.indices.last, let revision = participants[number].cores[index].gets
        else { return }
        let epoch = participants[number].cores[index].epoch
        participants[number].cores[index].gets = nil
        var transaction = Transaction(
            guards: [.epoch(OwnershipKey.owner, epoch), .revision(OwnershipKey.baton, revision)])
        if applies {
            transaction.delete(OwnershipKey.baton)
        } else if var record = store.view.baton?.record {
            record.state = .failed
            transaction.put(OwnershipKey.baton, record.bytes)
        }
        if applies { mutant?.changeTransaction?(&transaction, .applying) }
        guard store.commit(transaction, of: participants[number].machine.myself.session), applies else {
            return disturb(number)
        }
        if let other = holderOfCall { broke("C25", "participant \(number) has the call, and \(other) as well") }
        if store.view.owner?.claim != epoch { broke("C25", "participant \(number) has the call and does not own") }
        participants[number].cores[index].hasCall = true
        disturb(number)
    }

    /// The participant that has the call; one that is frozen counts.
    private var holderOfCall: Int? {
        participants.firstIndex { !$0.isDead && $0.cores.contains(where: \.hasCall) }
    }

    /// Ends a baton soon after its time, if the participant that gave it can run.
    mutating func ageBaton() {
        let giver = store.view.baton.flatMap { standing in
            participants.first { $0.machine.given?.record.epoch == standing.record.epoch }
        }
        batonAge = giver.map { $0.canRun && $0.runs >= Self.settled } ?? false ? batonAge + 1 : 0
        if batonAge > Self.batonLifetime + Self.settled {
            broke("C25", "a baton has stood for \(batonAge) ticks")
        }
    }
}
