package import CoreAPI

/// Who owns the core. Lives with the owner's session.
package struct OwnerRecord: StoredRecord {
    package var role: SessionRole
    package var state: OwnerState
    package var name: String
    package var process: ProcessIdentity
    /// When it acquired.
    package var since: BootInstant
    /// The namespace in which the process has its number; 0 where the number means nothing to other processes.
    package var processNamespace: UInt64 = 0

    /// Nobody that could answer or be killed, so a challenge removes it.
    package static let unreadable = OwnerRecord(
        role: .tool, state: .running, name: "",
        process: ProcessIdentity(bootID: BootID(high: 0, low: 0), pid: 0, startTime: 0),
        since: BootInstant(nanoseconds: 0))
}

extension OwnerRecord {
    package init(reading reader: inout ByteReader) throws(ByteCodingError) {
        role = SessionRole(rawValue: try reader.text())
        guard let state = OwnerState(rawValue: try reader.byte()) else { throw .malformed }
        self.state = state
        name = try reader.text()
        process = try reader.process()
        since = try reader.instant()
        processNamespace = try reader.word()
    }

    package func write(into writer: inout ByteWriter) {
        writer.text(role.rawValue)
        writer.byte(state.rawValue)
        writer.text(name)
        writer.process(process)
        writer.instant(since)
        writer.word(processNamespace)
    }
}
