internal import CoreAPI

/// A set of the group's 64 bells. A bell is a small file: writing to it wakes whoever watches it.
struct Bells: OptionSet, Hashable, Sendable {
    static let count = 64
    static let all = Bells(rawValue: .max)

    let rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// One bell by its number.
    init(index: Int) {
        rawValue = 1 << UInt64(index)
    }

    /// The bell that somebody listens to who watches a prefix.
    init(listeningTo prefix: KeyPrefix) {
        var hash = PathHash(domain: .keys)
        var path = prefix.path.utf8[...]
        if path.last == UInt8(ascii: "/") { path = path.dropLast() }
        for byte in path { hash.combine(byte) }
        self = hash.bell
    }

    /// The bell of a notification's name.
    init(of name: NotificationName) {
        var hash = PathHash(domain: .notifications)
        for byte in name.text.utf8 { hash.combine(byte) }
        self = hash.bell
    }

    /// The bells that a change of a key rings: its own, those of the paths above it, and that of all keys.
    init(changing key: Key) {
        var hash = PathHash(domain: .keys)
        var bells = hash.bell
        for byte in key.text.utf8 {
            if byte == UInt8(ascii: "/") { bells.formUnion(hash.bell) }
            hash.combine(byte)
        }
        self = bells.union(hash.bell)
    }

    /// The bit of a signal's mask that stands for no bell.
    static let changeMask: UInt32 = 1 << 31

    /// The bells as the mask of a signal, which has 31 bits for them: some share one.
    var signalMask: UInt32 {
        UInt32(truncatingIfNeeded: (rawValue | rawValue >> 31 | rawValue >> 62) & 0x7fff_ffff)
    }

    /// The numbers of the bells in the set.
    var indices: some Sequence<Int> {
        sequence(state: rawValue) { rest in
            guard rest != 0 else { return nil }
            defer { rest &= rest - 1 }
            return rest.trailingZeroBitCount
        }
    }
}

/// FNV-1a, the same in every process, over the bytes of a path or of a name, and the bell that it comes to.
///
/// A change rings the bells of all paths above its key. The few short ones ring at every change, so they have bells of
/// their own: otherwise they would ring for all who happen to share one with them.
private struct PathHash {
    enum Domain: UInt64 {
        case keys = 0xcbf2_9ce4_8422_2325
        case notifications = 0x6c62_272e_07bb_0142
    }

    /// The bells of paths of no part or one, of two, of three, and of more.
    private static let ofPaths: [Range<UInt64>] = [0..<4, 0..<4, 4..<28, 28..<60, 60..<64]
    /// Names have none that rings at every change.
    private static let ofNames: Range<UInt64> = 4..<60

    private let domain: Domain
    private var value: UInt64
    /// How many parts the path has.
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

    var bell: Bells {
        let range =
            switch domain {
            case .keys: Self.ofPaths[min(depth, Self.ofPaths.count - 1)]
            case .notifications: Self.ofNames
            }
        // The low bits of FNV depend on few input bits, so they are mixed with the high ones first.
        let mixed = (value ^ (value >> 32)) &* 0x9e37_79b9_7f4a_7c15
        let offset = ((mixed >> 32) * UInt64(range.count)) >> 32
        return Bells(rawValue: 1 << (range.lowerBound + offset))
    }
}
