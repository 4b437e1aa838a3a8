internal import CoreAPI

/// Why a participant cannot own now: a Main that answers does, or is about to.
struct Refusal: Hashable, Sendable {
    /// The owner entry; nil when the other Main still waits for its own hand-over.
    let owner: Standing<OwnerRecord>?
    /// The other Main's session.
    let session: SessionID
    /// Its name for people.
    let name: String

    /// What people call it.
    var title: String { name.isEmpty ? "of session \(session)" : "“\(name)”" }
}
