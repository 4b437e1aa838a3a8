internal import Coordination
internal import CoreAPI

/// The keys under which ownership stands.
enum OwnershipKeys {
    static let all = [
        OwnershipKey.owner, OwnershipKey.handover, OwnershipKey.critical, OwnershipKey.challenge, OwnershipKey.answer,
    ]
}
