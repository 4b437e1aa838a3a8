internal import CoreAPI

@testable internal import StoreEngine

/// Frames with checksums: a mutator behind the checksum changes a payload, and seals all frames anew.
struct FrameSeal: InputShape {
    /// The bytes before the first frame.
    let prefixByteCount: Int
    /// Returns whether the frames are those of layout 3, by the bytes before them.
    var isPlain: @Sendable (_ prefix: ArraySlice<UInt8>) -> Bool = { _ in false }
    /// The salt of the chain of a frame, by the frames before it; nil to continue the chain.
    let salt: @Sendable (_ payloads: [[UInt8]]) -> UInt64?

    /// Returns the bytes of the header of a frame.
    func headerByteCount(behind prefix: ArraySlice<UInt8>) -> Int {
        isPlain(prefix) ? 16 : JournalChain.headerByteCount
    }

    /// Takes the payloads out of an input by their lengths alone.
    func parts(of bytes: [UInt8]) -> (prefix: [UInt8], parts: [[UInt8]]) {
        var payloads: [[UInt8]] = []
        var rest = bytes.dropFirst(prefixByteCount)
        let headerByteCount = headerByteCount(behind: bytes.prefix(prefixByteCount))
        while rest.count >= headerByteCount {
            var length: UInt64 = 0
            for offset in 0..<8 { length |= UInt64(rest[rest.startIndex + offset]) << UInt64(offset * 8) }
            rest = rest.dropFirst(headerByteCount)
            let payload = rest.prefix(Int(min(length, UInt64(rest.count))))
            payloads.append(Array(payload))
            rest = rest.dropFirst(payload.count)
        }
        return (Array(bytes.prefix(prefixByteCount)), payloads)
    }

    func joined(_ prefix: [UInt8], _ payloads: [[UInt8]]) -> [UInt8] {
        var bytes = prefix + [UInt8](repeating: 0, count: prefixByteCount - prefix.count)
        let isPlain = isPlain(bytes[...])
        var value: UInt64 = 0
        for (index, payload) in payloads.enumerated() {
            if let salt = salt(Array(payloads[..<index])) { value = salt }
            if isPlain {
                value = Checksum.of(payload[...], continuing: value)
                var header = ByteWriter()
                header.word(UInt64(payload.count))
                header.word(value)
                bytes += header.bytes + payload
            } else {
                var chain = JournalChain(salt: value)
                bytes += chain.frame(payload, interest: .max)
                value = chain.value
            }
        }
        return bytes
    }
}
