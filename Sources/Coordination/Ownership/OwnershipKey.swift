package import CoreAPI

/// Where ownership stands in the store. One path, so that one look gives all of it at one revision.
package enum OwnershipKey {
    package static let path: KeyPrefix = ".sharedcore/ownership/"

    /// The owner. Its creation revision is the epoch.
    package static let owner: Key = ".sharedcore/ownership/owner"
    /// The request of a Main that waits for ownership. While it stands, nobody but its author acquires.
    package static let handover: Key = ".sharedcore/ownership/handover"
    /// The critical section that the owner is in.
    package static let critical: Key = ".sharedcore/ownership/critical"
    /// The last challenge to a holder of something that others wait for.
    package static let challenge: Key = ".sharedcore/ownership/challenge"
    /// The last answer to a challenge.
    package static let answer: Key = ".sharedcore/ownership/answer"
}
