package import CoreAPI

/// A request for hand-over, as its addressee has it in front of it.
package struct Hearing: Hashable, Sendable {
    /// The request.
    package let handover: Revision
    /// When the owner saw it first: a critical section may last for its bound from here.
    package let since: BootInstant
}
