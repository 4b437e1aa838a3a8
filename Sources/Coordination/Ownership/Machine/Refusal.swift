package import CoreAPI

/// Why a participant cannot own now: a Main that answers does, or is about to.
package struct Refusal: Hashable, Sendable {
    /// The owner entry; nil when the other Main still waits for its own hand-over.
    package let owner: Standing<OwnerRecord>?
    /// The other Main's session.
    package let session: SessionID
    /// Its name for people.
    package let name: String

    /// What people call it.
    package var title: String { name.isEmpty ? "of session \(session)" : "“\(name)”" }
}
