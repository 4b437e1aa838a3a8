internal import ByteCoding
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
