package import CoreAPI

/// The marks in a session's record by which every backend that reads the journal can check whether the session is
/// alive.
package struct SessionMark: Hashable, Sendable {
    /// The byte that the participant has locked; nil for a client of a hub.
    package let lockedByte: Int?
    /// The PID namespace in which the session's process id is valid; 0 if it is valid in no namespace of this machine,
    /// as for a process of another machine.
    package let processNamespace: UInt64
    /// The token by which a client of a hub proves that the session is its own when it reconnects; empty for others.
    package let token: [UInt8]
    /// The session's lease, for each hub of the group that cannot see the end of its process; nil if the hub that
    /// opened the session recorded none.
    package let lease: Duration?

    package init(lockedByte: Int, processNamespace: UInt64) {
        self.lockedByte = lockedByte
        self.processNamespace = processNamespace
        self.token = []
        self.lease = nil
    }

    /// Makes the mark of a client of a hub.
    package init(token: [UInt8], processNamespace: UInt64, lease: Duration? = nil) {
        self.lockedByte = nil
        self.processNamespace = processNamespace
        self.token = token
        self.lease = lease
    }

    /// True if neither a process nor a lock shows the session's end, so that a lease decides.
    package var isLeased: Bool { lockedByte == nil && processNamespace == 0 }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.word(lockedByte.map { UInt64($0) } ?? .max)
        writer.word(processNamespace)
        if lockedByte == nil {
            writer.data(token)
            if let lease { writer.integer(lease.clampedNanoseconds) }
        }
        return writer.bytes
    }

    /// Reads ``bytes``; nil for anything else, such as the data of a session of another backend.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let byte = try? reader.word(), let namespace = try? reader.word() else { return nil }
        if byte == .max {
            guard let token = try? reader.data() else { return nil }
            let lease = (try? reader.integer()).map { Duration.nanoseconds(Int64(clamping: $0)) }
            self.init(token: token, processNamespace: namespace, lease: lease)
        } else {
            guard byte < 1 << 62 else { return nil }
            self.init(lockedByte: Int(byte), processNamespace: namespace)
        }
    }
}

/// The record of a joining participant.
package struct SessionOpening: Hashable, Sendable {
    package let process: ProcessIdentity
    package let role: SessionRole
    package let name: String
    /// Bytes of the backend, such as the position of its lock.
    package let backendData: [UInt8]

    package init(process: ProcessIdentity, description: SessionDescription, backendData: [UInt8] = []) {
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
