internal import ByteCoding
internal import CoreAPI
internal import Platform

/// What a session's record keeps of where its life can be seen: the byte that it locks, and the namespace in which its
/// process number means something.
struct SessionMark: Hashable, Sendable {
    let lockedByte: Int
    let processNamespace: UInt64

    init(lockedByte: Int, processNamespace: UInt64) {
        self.lockedByte = lockedByte
        self.processNamespace = processNamespace
    }

    /// Whether the number of the session's process means that process to this one. Where the system does not tell the
    /// namespace, as without /proc, numbers mean nothing and only the byte counts.
    var namesProcess: Bool {
        processNamespace != 0 && processNamespace == ProcessIdentity.currentNamespace
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.word(UInt64(lockedByte))
        writer.word(processNamespace)
        return writer.bytes
    }

    /// Reads what ``bytes`` gave; nil for anything else, as of a session that another backend made.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let byte = try? reader.word(), byte < 1 << 62, let namespace = try? reader.word() else { return nil }
        lockedByte = Int(byte)
        processNamespace = namespace
    }
}
