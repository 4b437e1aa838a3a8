/// The word of a journal's page that is the whole commit protocol: the end of the published records, whether another
/// record may follow in this file, and whether the disk has kept the records that it was given.
struct CommitWord: Hashable, Sendable {
    private static let sealedBit: UInt64 = 1 << 63
    /// The bit of an abandoned journal, to be set without reading the rest.
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

    /// Nothing is published here any more; the order goes on in the next generation.
    var isSealed: Bool { rawValue & Self.sealedBit != 0 }

    /// A sync has failed, or the journal follows one of which one has and is not on the disk itself yet. Records may be
    /// published, but none counts as on the disk: the order has to go on in a journal that is written anew.
    var isAbandoned: Bool { rawValue & Self.abandonedBit != 0 }

    /// Returns the word of the same flags with another tail.
    func moved(to tail: Int) -> CommitWord {
        CommitWord(tail: tail, isSealed: isSealed, isAbandoned: isAbandoned)
    }

    /// The same word, sealed.
    var sealed: CommitWord { CommitWord(rawValue: rawValue | Self.sealedBit) }
}
