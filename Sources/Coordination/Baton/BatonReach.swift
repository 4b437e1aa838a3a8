package import CoreAPI

/// How much of a baton gets from a core to the core of the Main that asked.
///
/// Source: contract C25.
public enum BatonReach: Int, Hashable, Sendable, Comparable {
    /// Nothing: the Main waits for the call.
    case none
    /// The bytes, through a hub.
    case bytes
    /// The bytes and the descriptors: both are processes of one machine.
    case descriptors

    public static func < (left: BatonReach, right: BatonReach) -> Bool { left.rawValue < right.rawValue }
}

/// What the next core needs of a baton to go on with a call.
///
/// Source: contract C25.
public enum BatonNeed: UInt8, Hashable, Sendable {
    /// The bytes alone: each core that takes the kind goes on without descriptors.
    case bytes = 1
    /// The descriptors too.
    case descriptors = 2
}

/// How far a participant's batons get.
package enum OwnReach: UInt8, Hashable, Sendable {
    /// To the processes of its machine.
    case machine = 1
    /// The bytes also to each client of its hub.
    case hub = 2
}

extension SharedStore {
    /// How far the batons of this handle's participant get.
    package var ownReach: OwnReach {
        capabilities.features.contains(.batonBytes) && self is any BatonDepositing ? .hub : .machine
    }
}

extension OwnershipMachine {
    /// How much of a baton gets from an owner to the author of a request. Both compute it, of one revision.
    ///
    /// A group in files has one hub at a time, so two participants that reach one reach the same.
    func reach(of owner: Standing<OwnerRecord>, to handover: Standing<HandoverRecord>) -> BatonReach {
        if handover.record.isOnMachine(of: owner.record.process) { return .descriptors }
        return view.reach(of: owner) == .hub && handover.record.reach == .hub ? .bytes : .none
    }
}

extension OwnershipView {
    /// How far the batons of an owner get, as it has said with what moves.
    fileprivate func reach(of owner: Standing<OwnerRecord>) -> OwnReach {
        guard let moving = moving?.record, moving.epoch == owner.claim else { return .machine }
        return moving.reach
    }
}

extension HandoverRecord {
    /// Whether its author and an owner are processes of one machine. A process over a network is given no boot id.
    fileprivate func isOnMachine(of owner: ProcessIdentity) -> Bool {
        process.bootID == owner.bootID && process.bootID != BootID(high: 0, low: 0)
    }
}

extension Activity {
    /// Whether a core that takes a baton of its kind goes on with it, where so much of the baton gets to that core.
    func moves(to request: HandoverRecord, over reach: BatonReach) -> Bool {
        guard let moves, request.takes.contains(moves) else { return false }
        return reach == .descriptors || (reach == .bytes && needs == .bytes)
    }
}
