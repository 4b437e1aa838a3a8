package import CoreAPI

/// Who a machine acts for.
package struct Participation: Hashable, Sendable {
    package let session: SessionID
    package let role: SessionRole
    package let name: String
    package let process: ProcessIdentity

    package init(session: SessionID, role: SessionRole, name: String, process: ProcessIdentity) {
        self.session = session
        self.role = role
        self.name = name
        self.process = process
    }

    package var isMain: Bool { role == .main }
}
