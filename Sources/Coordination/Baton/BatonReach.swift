package import CoreAPI

/// The part of a baton that can be sent to the core of the Main that asked for ownership.
///
/// Source: contract C25.
public enum BatonReach: Int, Hashable, Sendable, Comparable {
    /// Nothing: the Main waits until the call ends.
    case none
    /// The bytes alone, through a hub.
    case bytes
    /// The bytes and the descriptors: both processes run on one machine.
    case descriptors

    public static func < (left: BatonReach, right: BatonReach) -> Bool { left.rawValue < right.rawValue }
}

/// The part of a baton that the next core needs to continue a call.
///
/// Source: contract C25.
public enum BatonNeed: UInt8, Hashable, Sendable {
    /// The bytes alone: each core that takes the kind continues the call without descriptors.
    case bytes = 1
    /// The bytes and the descriptors.
    case descriptors = 2
}

/// The places to which a participant's batons can be sent.
package enum OwnReach: UInt8, Hashable, Sendable {
    /// Participants on the same machine.
    case machine = 1
    /// Participants on the same machine and, for the bytes alone, the other clients of the same hub.
    case hub = 2
}

extension SharedStore {
    /// The places to which the batons of this handle's participant can be sent.
    package var ownReach: OwnReach {
        capabilities.features.contains(.batonBytes) && self is any BatonDepositing ? .hub : .machine
    }
}

extension OwnershipView {
    /// Returns the part of a baton that the owner can send to the author of a request. The owner and the author compute
    /// the same result, because both use the records of one revision.
    ///
    /// A group in files has one hub at a time, so two clients of a hub are clients of the same hub.
    func reach(of owner: Standing<OwnerRecord>, to handover: Standing<HandoverRecord>) -> BatonReach {
        if handover.record.isOnMachine(of: owner.record.process) { return .descriptors }
        return reach(of: owner) == .hub && handover.record.reach == .hub ? .bytes : .none
    }

    /// Returns the owner's reach, as its ``MovingRecord`` states it.
    private func reach(of owner: Standing<OwnerRecord>) -> OwnReach {
        guard let moving = moving?.record, moving.epoch == owner.claim else { return .machine }
        return moving.reach
    }
}

extension HandoverRecord {
    /// Returns true if the request's author and the owner are processes of one machine. A process over a network has
    /// the boot id 0.
    fileprivate func isOnMachine(of owner: ProcessIdentity) -> Bool {
        process.bootID == owner.bootID && process.bootID != BootID(high: 0, low: 0)
    }
}

extension Activity {
    /// Returns true if the activity moves to the author of `request`: the author takes the activity's kind of baton,
    /// and `reach` covers the part of the baton that the activity needs.
    func moves(to request: HandoverRecord, over reach: BatonReach) -> Bool {
        guard let moves, request.takes.contains(moves) else { return false }
        return reach == .descriptors || (reach == .bytes && needs == .bytes)
    }
}
