/// The word of a journal's page that is the whole commit protocol: where the published records end, and whether
/// another record may follow in this file.
struct CommitWord: Hashable, Sendable {
    private static let sealedBit: UInt64 = 1 << 63

    let rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(tail: Int, isSealed: Bool = false) {
        rawValue = UInt64(tail) | (isSealed ? Self.sealedBit : 0)
    }

    /// The end of the published records, as an offset in the file.
    var tail: Int { Int(rawValue & ~Self.sealedBit) }

    /// Nothing is published here any more; the order goes on in the next generation.
    var isSealed: Bool { rawValue & Self.sealedBit != 0 }
}
