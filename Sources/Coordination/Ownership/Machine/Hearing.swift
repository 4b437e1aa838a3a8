internal import CoreAPI

/// A request for hand-over, as its addressee has it in front of it.
struct Hearing: Hashable, Sendable {
    /// The request.
    let handover: Revision
    /// When the owner saw it first: a critical section may last for its bound from here.
    let since: BootInstant
}
