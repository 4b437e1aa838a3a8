internal import CoreAPI

/// Why a participant does nothing any more.
enum ParticipantEnd: Hashable, Sendable {
    case closed
    /// The store says that the session or the handle is over.
    case storeEnded(SharedCoreError)
}
