internal import Coordination
internal import CoreAPI

/// The part of the group's keys to which a key belongs.
enum KeyPart {
    case ownership, inbox, expectations, calls, other

    init(_ key: Key) {
        // The first letter after “.sharedcore/” identifies the part.
        let name = key.text.utf8
        guard name.count > 13, name.first == UInt8(ascii: ".") else {
            self = .other
            return
        }
        self =
            switch name[name.index(name.startIndex, offsetBy: 12)] {
            case UInt8(ascii: "o"): .ownership
            case UInt8(ascii: "i"): .inbox
            case UInt8(ascii: "e"): .expectations
            case UInt8(ascii: "c"): .calls
            default: .other
            }
    }
}

/// The keys of ownership.
enum OwnershipKeys {
    static let all = [
        OwnershipKey.owner, OwnershipKey.handover, OwnershipKey.critical, OwnershipKey.activities,
        OwnershipKey.challenge, OwnershipKey.answer, OwnershipKey.rest, OwnershipKey.wake, OwnershipKey.holder,
        OwnershipKey.baton, OwnershipKey.moving, OwnershipKey.takes,
    ]
    /// The keys that a Main at rest watches.
    static let ofSleep = [OwnershipKey.owner, OwnershipKey.rest, OwnershipKey.wake]
}
