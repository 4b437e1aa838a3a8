internal import CFuzzer
internal import StoreEngine

/// Frames with checksums in an input: a mutator behind the checksum changes a payload, and seals all frames anew.
struct FrameSeal: Sendable {
    /// The bytes before the first frame.
    let prefixByteCount: Int
    /// The salt of the chain of a frame, by the frames before it; nil to continue the chain.
    let salt: @Sendable (_ payloads: [[UInt8]]) -> UInt64?

    /// Takes the payloads out of an input by their lengths alone.
    func payloads(of bytes: [UInt8]) -> (prefix: [UInt8], payloads: [[UInt8]]) {
        var payloads: [[UInt8]] = []
        var rest = bytes.dropFirst(prefixByteCount)
        while rest.count >= JournalChain.headerByteCount {
            var length: UInt64 = 0
            for offset in 0..<8 { length |= UInt64(rest[rest.startIndex + offset]) << UInt64(offset * 8) }
            rest = rest.dropFirst(JournalChain.headerByteCount)
            let payload = rest.prefix(Int(min(length, UInt64(rest.count))))
            payloads.append(Array(payload))
            rest = rest.dropFirst(payload.count)
        }
        return (Array(bytes.prefix(prefixByteCount)), payloads)
    }

    func sealed(_ prefix: [UInt8], _ payloads: [[UInt8]]) -> [UInt8] {
        var bytes = prefix + [UInt8](repeating: 0, count: prefixByteCount - prefix.count)
        var chain = JournalChain(salt: 0)
        for index in payloads.indices {
            if let salt = salt(Array(payloads[..<index])) { chain = JournalChain(salt: salt) }
            bytes += chain.frame(payloads[index], interest: .max)
        }
        return bytes
    }

    /// Returns a mutated input of at most `maximum` bytes.
    func mutated(_ bytes: [UInt8], maximum: Int, seed: UInt32) -> [UInt8] {
        var random = SplitMix(seed: seed)
        var (prefix, payloads) = payloads(of: bytes)
        if payloads.isEmpty { payloads = [[]] }
        let index = Int(random.next() % UInt64(payloads.count))
        switch random.next() % 16 {
        case 0: return Fuzzing.changed(bytes, maximum: maximum)
        case 1: payloads.insert(payloads[index], at: Int(random.next() % UInt64(payloads.count + 1)))
        case 2 where payloads.count > 1: payloads.remove(at: index)
        case 3: payloads.swapAt(index, Int(random.next() % UInt64(payloads.count)))
        case 4 where !prefix.isEmpty: prefix = Fuzzing.changed(prefix, maximum: prefixByteCount)
        default: payloads[index] = Fuzzing.changed(payloads[index], maximum: payloads[index].count + 64)
        }
        let result = sealed(prefix, payloads)
        return result.count <= maximum ? result : bytes
    }
}

/// The generator of Steele, Lea and Flood (2014).
struct SplitMix {
    private var state: UInt64

    init(seed: UInt32) { state = UInt64(seed) }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
