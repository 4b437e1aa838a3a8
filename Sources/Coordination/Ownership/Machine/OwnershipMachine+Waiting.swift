internal import CoreAPI

/// Why the machine's participant does not run a core yet.
extension OwnershipMachine {
    /// What is waited for; nil when nothing is wanted, nothing is known yet, or the core runs.
    var waiting: OwnershipWait? {
        if holding != nil { return core?.phase ?? .starting == .starting ? .coreStart : nil }
        guard isWaiting else { return nil }
        // Its own, of which it learns in the next step.
        if view.owner?.session == myself.session { return .coreStart }
        // A Main is served by no other owner's core, so it waits for nothing but its own.
        if myself.isMain, let rest { return .rest(rest.length, after: rest.problem) }
        if let owner = view.owner { return wait(for: owner) }
        if let handover = view.handover, handover.session != myself.session {
            return .request(ofMain: handover.record.name)
        }
        return rest.map { .rest($0.length, after: $0.problem) }
    }

    private func wait(for standing: Standing<OwnerRecord>) -> OwnershipWait? {
        let owner = GroupOwner(standing)
        guard let handover = view.handover else {
            // Whoever will ask it says so when it does.
            if asks(standing) { return granted?.epoch == standing.claim ? handover(by: standing) : nil }
            return isUnanswered(standing.claim) ? .answer(of: owner) : .owner(owner)
        }
        guard handover.session == myself.session else { return .request(ofMain: handover.record.name) }
        // It begins to count in the next step, where it has not.
        let wait = handoverWait.flatMap { $0.epoch == standing.claim ? $0 : nil }
        switch wait?.enforcement {
        case .killed: return .end(ofKilled: owner)
        case .confirmed where handover.record.isKilling: return .end(ofKilled: owner)
        case .notYet, .confirmed, .impossible, nil: break
        }
        return self.handover(by: standing)
    }

    private func handover(by standing: Standing<OwnerRecord>) -> OwnershipWait {
        let owner = GroupOwner(standing)
        let counted = handoverWait.flatMap { $0.epoch == standing.claim ? max($0.limit, $0.stopLimit ?? .zero) : nil }
        let limit = max(counted ?? .zero, handoverLimit(of: standing))
        let isInSection = view.critical?.record.epoch == standing.claim
        return isInSection ? .criticalSection(of: owner, within: limit) : .handover(by: owner, within: limit)
    }

    /// Whether a challenge to a claim stands that was not answered.
    private func isUnanswered(_ claim: Revision) -> Bool {
        guard let challenge = view.challenge, challenge.record.claim == claim else { return false }
        return !isAnswered(challenge)
    }
}
