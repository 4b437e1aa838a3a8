/// Bytes as the kernel writes them, in the order of the machine. What does not fit is nil, never a trap.
struct KernelBytes {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    var count: Int { bytes.count }
    var content: ArraySlice<UInt8> { bytes }

    /// A number at an offset that is not negative.
    func number<Number: FixedWidthInteger>(_: Number.Type = Number.self, at offset: Int) -> Number? {
        guard let part = part(from: offset, count: MemoryLayout<Number>.size) else { return nil }
        var number: Number = 0
        withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: part.bytes) }
        return number
    }

    /// Bytes from an offset on; neither is negative.
    func part(from offset: Int, count: Int) -> KernelBytes? {
        guard offset <= bytes.count, count <= bytes.count - offset else { return nil }
        let start = bytes.startIndex + offset
        return KernelBytes(bytes[start..<(start + count)])
    }

    /// All bytes from an offset on; none when it is beyond the end.
    func rest(from offset: Int) -> KernelBytes {
        KernelBytes(bytes.dropFirst(offset))
    }

    /// Text up to the first zero.
    var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// The offset after something of a length: the kernel lets all begin at a multiple of four.
    static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension KernelBytes {
    /// The attributes of a message: for each its kind, and its content. The first of a kind counts; one that does not fit
    /// ends them.
    var attributes: [UInt16: KernelBytes] {
        var attributes: [UInt16: KernelBytes] = [:]
        var rest = self
        while let length: UInt16 = rest.number(at: 0), let kind: UInt16 = rest.number(at: 2), length >= 4,
            let content = rest.part(from: 4, count: Int(length) - 4)
        {
            // The two highest bits say how the content is made, not what it is.
            let kind = kind & 0x3fff
            if attributes[kind] == nil { attributes[kind] = content }
            rest = rest.rest(from: Self.aligned(Int(length)))
        }
        return attributes
    }
}
