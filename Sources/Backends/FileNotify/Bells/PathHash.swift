/// FNV-1a, the same in every process, over the bytes of a path or of a name, and the bell that it comes to.
///
/// A change rings the bells of all paths above its key. The few short ones ring at every change, so they have bells of
/// their own: otherwise they would ring for all who happen to share one with them.
struct PathHash {
    enum Domain: UInt64 {
        case keys = 0xcbf2_9ce4_8422_2325
        case notifications = 0x6c62_272e_07bb_0142
    }

    /// The bells of paths of no part or one, of two, of three, and of more.
    private static let ofPaths: [Range<UInt64>] = [1..<8, 1..<8, 8..<120, 120..<248, 248..<256]
    /// Names have none that rings at every change.
    private static let ofNames: Range<UInt64> = 8..<248

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
        return Bells(index: Int(range.lowerBound + offset))
    }
}
