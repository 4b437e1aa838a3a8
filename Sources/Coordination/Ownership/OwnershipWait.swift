internal import CoreAPI

/// What a participant that wants to own waits for.
///
/// Source: contract C3, C6, C14.
public enum OwnershipWait: Hashable, Sendable {
    /// An owner was asked to hand over, and has so long at most.
    case handover(GroupOwner, atMost: Duration)
    /// The process of an owner that did not hand over in time was killed.
    case death(GroupOwner)
    /// Somebody owns who need not be asked: it is waited for, and challenged to show that it is alive.
    case turn(GroupOwner)
    /// A Main of this name has asked before, and comes first.
    case request(name: String)

    /// The wait for people: `waiting for executor “push 11” pid 123 (epoch 7) to hand over, 500 ms at most`.
    public func describe() -> String {
        switch self {
        case .handover(let owner, let limit):
            "waiting for \(owner.title) to hand over, \(limit.clampedNanoseconds / 1_000_000) ms at most"
        case .death(let owner): "waiting for the end of \(owner.title), which was killed"
        case .turn(let owner): "waiting for \(owner.title), which owns the core"
        case .request(let name): "waiting for the main “\(name)”, which has asked for the core before"
        }
    }
}

extension GroupOwner {
    fileprivate var title: String {
        "\(role.rawValue)\(name.isEmpty ? "" : " “\(name)”") pid \(process.pid) (epoch \(epoch)"
            + (state == .stopping ? ", stopping)" : ")")
    }
}

extension OwnershipMachine {
    /// What stands in the way of the ownership that is sought; nil when nothing does, or none is sought.
    var wait: OwnershipWait? {
        guard isWaiting, core == nil, refusal == nil else { return nil }
        let asked = view.handover
        guard let owner = view.owner else {
            return asked.flatMap { $0.session == myself.session ? nil : .request(name: $0.record.name) }
        }
        // Its own, of which it learns in the next step.
        guard owner.session != myself.session else { return nil }
        guard let asked, asked.session == myself.session else {
            // It is asked in the next step.
            return myself.isMain && owner.record.role == .executor ? nil : .turn(GroupOwner(owner))
        }
        if case .killed = handoverWait?.enforcement { return .death(GroupOwner(owner)) }
        return .handover(GroupOwner(owner), atMost: handoverLimit(of: owner))
    }
}
