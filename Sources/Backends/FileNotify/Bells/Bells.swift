internal import CoreAPI

/// A set of the group's 256 bells. A bell is a small file: writing to it wakes whoever watches it.
struct Bells: SetAlgebra, Hashable, Sendable {
    /// The set as words with a bit for each bell, as processes share it.
    typealias Words = SIMD4<UInt64>

    static let count = Words.scalarCount * 64
    static let all = Bells(words: Words(repeating: .max))
    /// The bell of whoever wants to hear of every change and of every post: a hub. It is not rung for those that a hub
    /// records while it serves.
    static let everything = Bells(index: 0)

    private(set) var words: Words

    init(words: Words) {
        self.words = words
    }

    init() {
        words = .zero
    }

    /// One bell by its number.
    init(index: Int) {
        // Computed, not looked up: a subscript by a number would put the words into memory and take them out again.
        words = Words(0, 1, 2, 3)
        let word = UInt64(truncatingIfNeeded: index / 64)
        words = Words(repeating: 1 << UInt64(index % 64)).replacing(with: 0, where: words .!= word)
    }

    /// The bell that somebody listens to who watches a prefix.
    init(listeningTo prefix: KeyPrefix) {
        var hash = PathHash(domain: .keys)
        var path = prefix.path.utf8[...]
        if path.last == UInt8(ascii: "/") { path = path.dropLast() }
        for byte in path { hash.combine(byte) }
        self = hash.bell
    }

    /// The bell that somebody listens to who observes a notification.
    init(of name: NotificationName) {
        var hash = PathHash(domain: .notifications)
        for byte in name.text.utf8 { hash.combine(byte) }
        self = hash.bell
    }

    /// The bells that a post rings.
    init(posting name: NotificationName) {
        self = Bells(of: name).union(.everything)
    }

    /// The bells that a change of a key rings: its own, those of the paths above it, and that of all keys.
    init(changing key: Key) {
        var hash = PathHash(domain: .keys)
        var bells = Bells.everything.union(hash.bell)
        for byte in key.text.utf8 {
            if byte == UInt8(ascii: "/") { bells.formUnion(hash.bell) }
            hash.combine(byte)
        }
        self = bells.union(hash.bell)
    }

    /// The bells as the interest mask of a frame, in which four share a bit (decision 30).
    var interestMask: UInt64 { words[0] | words[1] | words[2] | words[3] }

    /// The bit of a signal's mask that stands for no bell.
    static let changeMask: UInt32 = 1 << 31

    /// The bells as the mask of a signal, which has 31 bits for them: many share one.
    var signalMask: UInt32 {
        let mask = interestMask
        return UInt32(truncatingIfNeeded: (mask | mask >> 31 | mask >> 62) & 0x7fff_ffff)
    }

    /// The numbers of the bells in the set.
    var indices: some Sequence<Int> {
        sequence(state: (word: 0, rest: words[0])) { [words] state in
            while state.rest == 0 {
                guard state.word + 1 < Words.scalarCount else { return nil }
                state.word += 1
                state.rest = words[state.word]
            }
            defer { state.rest &= state.rest - 1 }
            return state.word * 64 + state.rest.trailingZeroBitCount
        }
    }
}
