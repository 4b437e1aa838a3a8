/// The word of a journal's page that carries the whole commit protocol: the end of the published records, whether the
/// journal is sealed, and whether the disk has lost records.
struct CommitWord: Hashable, Sendable {
    private static let sealedBit: UInt64 = 1 << 63
    /// The bit of an abandoned journal. It is set atomically, without a read of the other bits.
    static let abandonedBit: UInt64 = 1 << 62

    let rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(tail: Int, isSealed: Bool = false, isAbandoned: Bool = false) {
        rawValue = UInt64(tail) | (isSealed ? Self.sealedBit : 0) | (isAbandoned ? Self.abandonedBit : 0)
    }

    /// The end of the published records, as an offset in the file.
    var tail: Int { Int(rawValue & ~(Self.sealedBit | Self.abandonedBit)) }

    /// True if the journal is sealed: nothing more is published in it, and the order continues in the next generation.
    var isSealed: Bool { rawValue & Self.sealedBit != 0 }

    /// True if the journal is abandoned: a sync of it has failed, or a sync of its predecessor has failed and this one
    /// is not on the disk yet. Records may still be published in it, but none of them counts as on the disk. The group
    /// must be written anew in another journal.
    var isAbandoned: Bool { rawValue & Self.abandonedBit != 0 }

    /// Returns a word with the same flags and another tail.
    func moved(to tail: Int) -> CommitWord {
        CommitWord(tail: tail, isSealed: isSealed, isAbandoned: isAbandoned)
    }

    /// The same word, sealed.
    var sealed: CommitWord { CommitWord(rawValue: rawValue | Self.sealedBit) }
}
