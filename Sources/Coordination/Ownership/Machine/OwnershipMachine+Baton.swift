package import CoreAPI

/// The baton that a participant has given with its ownership.
///
/// Source: contract C25.
extension OwnershipMachine {
    /// Returns the kinds of batons that the author of a request accepts from the owner; empty if no baton can move now.
    func takes(_ handover: Standing<HandoverRecord>) -> [String] {
        guard given == nil, view.baton == nil, let owner = view.owner, view.reach(of: owner, to: handover) != .none
        else { return [] }
        return handover.record.takes
    }

    /// Records the baton that the core has given. The release of the ownership offers it.
    package mutating func give(_ baton: GivenBaton) {
        given = baton
    }

    /// Records that a commit has taken effect.
    package mutating func committed(_ transition: Transition, at revision: Revision) {
        if transition.offersRest { hasOffered = true }
        switch transition.baton {
        case .offers: given?.phase = .offered(revision)
        case .ends(let end): given?.phase = .over(end)
        case nil: break
        }
    }

    /// Records that a commit is about to be sent. From now on its offer of a baton may have taken effect, even if the
    /// participant ends before it knows the outcome.
    ///
    /// - Returns: True if an offer may have taken effect before.
    package mutating func begins(_ transition: Transition) -> Bool {
        let wasUnclear = given?.isUnclear ?? false
        if transition.baton == .offers { given?.isUnclear = true }
        return wasUnclear
    }

    /// Why a commit is not known to have taken effect.
    package enum Miss {
        /// A guard did not hold.
        case refused
        /// The store has no room for it.
        case noRoom
        /// It may have taken effect.
        case unknown

        package init(_ code: SharedCoreError.Code) {
            switch code {
            case .guardFailed: self = .refused
            case .storageFull, .limitExceeded: self = .noRoom
            default: self = .unknown
            }
        }
    }

    /// Records that a commit is not known to have taken effect. A baton for which there is no room is not offered
    /// again: the ownership is released without it.
    ///
    /// - Parameter wasUnclear: The result of ``begins(_:)``.
    package mutating func missed(_ transition: Transition, _ miss: Miss, wasUnclear: Bool = false) {
        if transition.baton == .offers {
            given?.isUnclear = wasUnclear || miss == .unknown
            if miss == .noRoom, !wasUnclear, given?.phase == .kept { given?.phase = .over(.refused) }
        }
        if case .ends(let end) = transition.baton, miss == .unknown { given?.unclearEnd = end }
        if transition.offersRest, miss != .refused { hasOffered = true }
        // Without this entry, the timeline would show the next core of this participant as running beside the lost one.
        if transition.transaction.operations.isEmpty { untold = transition.timelineEvents.first }
    }

    /// Records that the participant has ended and cannot follow the group any more.
    package mutating func abandonBaton() {
        guard let given else { return }
        switch given.phase {
        case .kept: self.given?.phase = .over(given.isUnclear ? .unknown : .refused)
        case .offered: self.given?.phase = .over(.unknown)
        case .over: break
        }
    }

    /// Adds the offer to a release, if the core gave a baton and the group has no other one.
    mutating func offer(with epoch: Revision, in transition: inout Transition) {
        guard let given, given.phase == .kept, given.record.epoch == epoch, view.baton == nil else { return }
        transition.transaction.require(.absent(OwnershipKey.baton))
        transition.transaction.put(
            OwnershipKey.baton, given.record.bytes, lifetime: .expiring(after: given.lifetime * 2))
        transition.timelineEvents.insert(
            OwnershipEvent(kind: .batonOffered, epoch: epoch, reason: given.record.title), at: 0)
        transition.baton = .offers
    }

    /// Settles the baton that was given. The participant whose commit removes the baton's record keeps the calls.
    mutating func settleBaton(at now: BootInstant) -> Directive? {
        guard let given else { return nil }
        let standing = view.baton.flatMap { $0.record.epoch == given.record.epoch ? $0 : nil }
        switch given.phase {
        case .over: return nil
        case .kept:
            // The participant still owns: the release that offers the baton has not taken effect yet.
            guard holding?.epoch != given.record.epoch else { return nil }
            guard let standing else {
                self.given?.phase = .over(given.isUnclear ? .unknown : .refused)
                return nil
            }
            self.given?.phase = .offered(standing.claim)
            return settle(standing, at: now)
        case .offered(let revision):
            guard view.revision >= revision else { return nil }
            guard let standing else {
                // No owner applies a failed baton. An expired one may have been applied just before.
                let end = given.unclearEnd.map { $0 == .failed ? BatonEnd.failed : .unknown }
                self.given?.phase = .over(end ?? .applied)
                return nil
            }
            return settle(standing, at: now)
        }
    }

    private mutating func settle(_ standing: Standing<BatonRecord>, at now: BootInstant) -> Directive? {
        var transition = Transition(transaction: Transaction())
        transition.transaction.require(.revision(OwnershipKey.baton, standing.revision))
        transition.transaction.delete(OwnershipKey.baton)
        if standing.record.state == .failed {
            transition.baton = .ends(.failed)
            return .commit(transition)
        }
        guard standing.record.deadline <= now else {
            wake(at: standing.record.deadline)
            return nil
        }
        transition.baton = .ends(.expired)
        transition.timelineEvents = [
            OwnershipEvent(
                kind: .batonExpired, epoch: standing.record.epoch,
                reason: "\(standing.record.title): no owner has used it")
        ]
        return .commit(transition)
    }
}

extension OwnershipView {
    /// Returns the owner's activities that delay a request; nil if none does.
    ///
    /// The owner and the author of the request both call this with the records of one revision, so they get the same
    /// result.
    package func activities(
        of owner: Standing<OwnerRecord>, holdingUp handover: Standing<HandoverRecord>?
    ) -> ActivitiesRecord? {
        guard var activities = activities(of: owner.claim) else { return nil }
        guard let handover, baton == nil else { return activities }
        let reach = reach(of: owner, to: handover)
        let others = activities.activities.filter { !$0.moves(to: handover.record, over: reach) }
        guard activities.activities.count - others.count <= Baton.maximumCallCount else { return activities }
        activities.activities = others
        return others.isEmpty ? nil : activities
    }
}
