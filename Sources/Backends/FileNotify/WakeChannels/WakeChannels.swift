internal import CoreAPI
internal import Platform

/// A set of the group's 512 wake channels. A wake channel is a small file: a write to it wakes each process that
/// watches it.
struct WakeChannels: Hashable, Sendable {
    /// The set as words with a bit for each channel, as processes share it.
    typealias Words = SIMD8<UInt64>

    static let count = Words.scalarCount * 64
    static let all = WakeChannels(words: Words(repeating: .max))
    /// The channel of a listener to every change and every post: a hub. It is not signalled for changes that a hub
    /// records while it serves.
    static let everything = WakeChannels(index: 0)

    private(set) var words: Words

    init(words: Words) {
        self.words = words
    }

    init() {
        words = .zero
    }

    /// Makes a set of one channel, by its number.
    init(index: Int) {
        // Computed without a subscript, which would store the words to memory and load them again.
        words = Words(0, 1, 2, 3, 4, 5, 6, 7)
        let word = UInt64(truncatingIfNeeded: index / 64)
        words = Words(repeating: 1 << UInt64(index % 64)).replacing(with: 0, where: words .!= word)
    }

    /// Makes the channel that a watch of a prefix listens to.
    init(listeningTo prefix: KeyPrefix) {
        var hash = PathHash(domain: .keys)
        var path = prefix.path.utf8[...]
        if path.last == UInt8(ascii: "/") { path = path.dropLast() }
        for byte in path { hash.combine(byte) }
        self = hash.wakeChannel
    }

    /// Makes the channel that an observation of a notification listens to.
    init(of name: NotificationName) {
        var hash = PathHash(domain: .notifications)
        for byte in name.text.utf8 { hash.combine(byte) }
        self = hash.wakeChannel
    }

    /// Makes the channels that a post signals.
    init(posting name: NotificationName) {
        self = WakeChannels(of: name).union(.everything)
    }

    /// Makes the channels that a change of a key signals: its own, those of the paths above it, and that of all keys.
    init(changing key: Key) {
        var hash = PathHash(domain: .keys)
        var wakeChannels = WakeChannels.everything.union(hash.wakeChannel)
        for byte in key.text.utf8 {
            if byte == UInt8(ascii: "/") { wakeChannels.formUnion(hash.wakeChannel) }
            hash.combine(byte)
        }
        self = wakeChannels.union(hash.wakeChannel)
    }

    /// The channels as the interest mask of a frame, in which eight share a bit (decision 30).
    var interestMask: UInt64 { words.indices.reduce(0) { $0 | words[$1] } }

    /// The bit of a futex signal's mask that belongs to no channel.
    static let changeMask: UInt32 = 1 << 31

    /// The channels as the mask of a futex signal, which has 31 bits for them: many share one.
    var signalMask: UInt32 {
        let mask = interestMask
        return UInt32(truncatingIfNeeded: (mask | mask >> 31 | mask >> 62) & 0x7fff_ffff)
    }

    /// The numbers of the channels in the set.
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

/// Set operations, word by word.
extension WakeChannels {
    var isEmpty: Bool { words == .zero }

    /// The number of channels in the set.
    var count: Int { words.indices.reduce(0) { $0 + words[$1].nonzeroBitCount } }

    func isSuperset(of other: WakeChannels) -> Bool { other.words & ~words == .zero }

    func union(_ other: WakeChannels) -> WakeChannels { WakeChannels(words: words | other.words) }

    func intersection(_ other: WakeChannels) -> WakeChannels { WakeChannels(words: words & other.words) }

    func subtracting(_ other: WakeChannels) -> WakeChannels { WakeChannels(words: words & ~other.words) }

    mutating func formUnion(_ other: WakeChannels) { self = union(other) }

    mutating func subtract(_ other: WakeChannels) { self = subtracting(other) }
}

/// Sets of wake channels in a page that processes share: eight words, each of which is read and changed atomically.
extension MappedPage {
    func wakeChannels(at offset: Int) -> WakeChannels {
        var words = WakeChannels.Words.zero
        for word in words.indices { words[word] = load(at: offset + word * 8) }
        return WakeChannels(words: words)
    }

    func insert(_ wakeChannels: WakeChannels, at offset: Int) {
        for word in wakeChannels.words.indices where wakeChannels.words[word] != 0 {
            insert(wakeChannels.words[word], at: offset + word * 8)
        }
    }

    func remove(_ wakeChannels: WakeChannels, at offset: Int) {
        for word in wakeChannels.words.indices where wakeChannels.words[word] != 0 {
            while true {
                let known = load(at: offset + word * 8)
                if replace(known, with: known & ~wakeChannels.words[word], at: offset + word * 8) { break }
            }
        }
    }
}

/// FNV-1a over the bytes of a path or of a name, and the wake channel of the hash. It is the same in every process.
///
/// A change signals the channels of all paths above its key. The few short paths are signalled at every change, so they
/// have channels of their own: otherwise each of their signals would wake all listeners of paths that share a channel
/// with them.
struct PathHash {
    enum Domain: UInt64 {
        case keys = 0xcbf2_9ce4_8422_2325
        case notifications = 0x6c62_272e_07bb_0142
    }

    /// The channels of paths of no part or one, of two, of three, and of more.
    private static let ofPaths: [Range<UInt64>] = [1..<8, 1..<8, 8..<64, 64..<272, 272..<512]
    /// The channels of names: none of those that are signalled at every change.
    private static let ofNames: Range<UInt64> = 8..<272

    private let domain: Domain
    private var value: UInt64
    /// The number of parts that the path has.
    private var depth = 0

    init(domain: Domain) {
        self.domain = domain
        value = domain.rawValue
    }

    mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        if depth == 0 { depth = 1 }
        if byte == UInt8(ascii: "/") { depth += 1 }
    }

    var wakeChannel: WakeChannels {
        let range =
            switch domain {
            case .keys: Self.ofPaths[min(depth, Self.ofPaths.count - 1)]
            case .notifications: Self.ofNames
            }
        // The low bits of FNV depend on few input bits, so they are mixed with the high ones first.
        let mixed = (value ^ (value >> 32)) &* 0x9e37_79b9_7f4a_7c15
        let offset = ((mixed >> 32) * UInt64(range.count)) >> 32
        return WakeChannels(index: Int(range.lowerBound + offset))
    }
}
