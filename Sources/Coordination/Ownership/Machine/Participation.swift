internal import CoreAPI

/// Who a machine acts for.
struct Participation: Hashable, Sendable {
    let session: SessionID
    let role: SessionRole
    let name: String
    let process: ProcessIdentity

    var isMain: Bool { role == .main }
}
