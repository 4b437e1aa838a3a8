internal import CoreAPI
internal import StoreEngine

extension StoreState {
    /// All that the state is but its history, as bytes: equal for equal states.
    func fingerprint() throws -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        try writeSnapshot { payload in payloads.append(payload) }
        return payloads
    }

    /// The state that the records of a snapshot make.
    static func restored(
        from payloads: [[UInt8]], limits: Limits = RandomMachine.limits, external: ExternalValues? = nil
    ) throws -> StoreState? {
        var reader = SnapshotReader(limits: limits, historyByteCount: 1 << 20)
        for payload in payloads {
            guard case .snapshot(let part) = try JournalRecord(payload[...], external: external) else { return nil }
            try reader.read(part)
        }
        return reader.result
    }
}

extension Array where Element == Effect {
    /// The journal of the effects: one frame for each.
    func journal(salt: UInt64) throws -> [UInt8] {
        var chain = JournalChain(salt: salt)
        var bytes: [UInt8] = []
        for effect in self {
            bytes += chain.frame(try effect.payload(), interest: effect.revision.rawValue &* 0x9e37_79b9_7f4a_7c15)
        }
        return bytes
    }
}

/// Bytes in memory as a source of values.
final class BytesSource: ValueSource {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func bytes(at offset: UInt64, count: Int) throws(SharedCoreError) -> [UInt8] {
        Array(bytes[Int(offset)..<Int(offset) + count])
    }
}

/// The content of a journal's bytes for a reader.
struct JournalContent {
    /// The payloads of the whole frames at its front.
    private(set) var payloads: [ArraySlice<UInt8>] = []
    /// The bytes after them; nil when there are none.
    private(set) var end: JournalChain.Reading?

    init(_ bytes: [UInt8], salt: UInt64) {
        var chain = JournalChain(salt: salt)
        var rest = bytes[...]
        while !rest.isEmpty {
            let reading = chain.read(rest)
            guard case .frame(let range) = reading else {
                end = reading
                return
            }
            payloads.append(bytes[range])
            rest = bytes[range.upperBound...]
        }
    }

    /// The effects of the payloads.
    func effects() throws -> [Effect] {
        try payloads.map { payload in
            guard case .effect(let effect) = try JournalRecord(payload) else {
                throw SharedCoreError(.corrupt, "A part of a snapshot among effects.", at: "test")
            }
            return effect
        }
    }
}
