package import CoreAPI

/// Who a machine acts for.
package struct Participation: Hashable, Sendable {
    package let session: SessionID
    package let role: SessionRole
    package let name: String
    package let process: ProcessIdentity
    /// The namespace in which the process has its number; 0 where the number means nothing to other processes.
    package let processNamespace: UInt64

    package init(
        session: SessionID, role: SessionRole, name: String, process: ProcessIdentity, processNamespace: UInt64 = 0
    ) {
        self.session = session
        self.role = role
        self.name = name
        self.process = process
        self.processNamespace = processNamespace
    }

    package var isMain: Bool { role == .main }
}
