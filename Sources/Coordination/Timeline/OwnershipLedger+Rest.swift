internal import CoreAPI

/// An ownership that moves to a holder and back.
///
/// Source: contract C26.
extension OwnershipLedger {
    mutating func applyRest(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        switch entry.kind {
        case .rested: return rest(record)
        case .resumed: return resume(record)
        default:
            guard var owner, owner.epoch == entry.other, owner.sleeper != nil, owner.wokenAt == nil else { return [] }
            owner.wokenAt = Moment(at: entry.at, bootID: entry.bootID)
            owner.wakeBound = entry.bound ?? .zero
            self.owner = owner
            return []
        }
    }

    private mutating func rest(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        guard var owner, owner.epoch == entry.epoch, owner.sleeper == nil else {
            return [
                violation(
                    record, "Session \(entry.participant) owns for a Main that rests with epoch \(named(entry.epoch))")
            ]
        }
        var broken: [Violation] = []
        if owner.role != .main || owner.state != .running {
            broken.append(
                violation(record, "The \(owner.role) of epoch \(owner.epoch), which was \(owner.state), rests"))
        }
        // A rest of a Main despite another Main's request cannot be detected here, because a Main that dies while it
        // asks leaves no further entry.
        challenges[owner.epoch] = nil
        owner.sleeper = owner.participant
        owner.participant = entry.participant
        owner.wokenAt = nil
        self.owner = owner
        return broken
    }

    private mutating func resume(_ record: TimelineRecord) -> [Violation] {
        let entry = record.entry
        guard var owner, owner.epoch == entry.epoch, owner.sleeper == entry.participant else {
            return [violation(record, "Session \(entry.participant) resumed with epoch \(named(entry.epoch))")]
        }
        challenges[owner.epoch] = nil
        owner.participant = entry.participant
        owner.sleeper = nil
        owner.wokenAt = nil
        self.owner = owner
        return []
    }

    /// Returns why the core of a Main at rest was given up too early; nil if it was not, or if another core was given
    /// up.
    func failureOfWake(_ record: TimelineRecord) -> Violation? {
        let entry = record.entry
        guard let owner, owner.epoch == entry.epoch, let sleeper = owner.sleeper, sleeper != entry.participant else {
            return nil
        }
        guard let wokenAt = owner.wokenAt else {
            return violation(record, "The core of epoch \(owner.epoch), at rest, was given up, and it was not woken")
        }
        guard let elapsed = wokenAt.elapsed(until: entry), elapsed < owner.wakeBound else { return nil }
        return violation(
            record,
            "The core of epoch \(owner.epoch), at rest, was given up \(elapsed) after it was woken, and had "
                + "\(owner.wakeBound)")
    }

    private func violation(_ record: TimelineRecord, _ sentence: String) -> Violation {
        let present =
            owner.map { owner in
                "session \(owner.participant) owned with epoch \(owner.epoch)"
                    + (owner.sleeper.map { " for session \($0)" } ?? "")
            } ?? "there was no owner"
        return Violation(.c26, at: record.revision, "\(sentence); \(present).")
    }

    private func named(_ epoch: Revision?) -> String { epoch.map { "\($0)" } ?? "none" }
}
