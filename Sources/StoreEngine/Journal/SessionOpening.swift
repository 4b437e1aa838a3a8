public import CoreAPI

/// What is recorded of a participant that joins.
public struct SessionOpening: Hashable, Sendable {
    public let process: ProcessIdentity
    public let role: SessionRole
    public let name: String
    /// Bytes of the backend's own, such as where it holds a lock.
    public let backendData: [UInt8]

    public init(process: ProcessIdentity, description: SessionDescription, backendData: [UInt8] = []) {
        self.process = process
        self.role = description.role
        self.name = description.name
        self.backendData = backendData
    }

    init(process: ProcessIdentity, role: SessionRole, name: String, backendData: [UInt8]) {
        self.process = process
        self.role = role
        self.name = name
        self.backendData = backendData
    }
}
