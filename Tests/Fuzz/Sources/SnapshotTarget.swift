internal import CoreAPI

@testable internal import StoreEngine

/// Records of a snapshot, then effects: what a replica behind a hub reads, and any reader of a journal. The first byte
/// of an input is options.
enum SnapshotTarget {
    static let seal = FrameSeal(prefixByteCount: 1) { $0.isEmpty ? 0 : nil }

    static func run(_ input: [UInt8]) {
        guard let options = input.first else { return }
        var chain = JournalChain(salt: 0)
        var rest = input.dropFirst()
        var reader = SnapshotReader(limits: Limits(), historyByteCount: 1 << 16, effectByteCount: 1 << 16)
        var state: StoreState?
        var histories: [SnapshotPart] = []
        while true {
            var passing = chain
            guard case .frame(let range) = chain.read(rest) else {
                guard options & 1 != 0, let range = passing.passHeader(rest), range.upperBound <= rest.endIndex else {
                    break
                }
                chain = passing
                rest = rest[range.upperBound...]
                continue
            }
            let payload = Array(rest[range])
            rest = rest[range.upperBound...]
            requireStable(payload, { try JournalRecord($0[...]) }, write)
            guard let record = try? JournalRecord(payload[...]) else { break }
            do {
                switch record {
                case .snapshot(let part):
                    if case .history = part { histories.append(part) }
                    guard state == nil else { continue }
                    if options & 1 != 0 { try reader.readSurviving(part) } else { try reader.read(part) }
                    state = reader.result
                case .effect(let effect):
                    guard let revision = state?.revision, effect.revision > revision else { continue }
                    state?.apply(effect)
                }
            } catch { break }
        }
        if state == nil, options & 2 != 0 {
            var surviving = reader.survivingState
            surviving.removeOrphans()
            state = surviving
        }
        guard var state else { return }
        try? checkSnapshot(of: state)
        try? state.prependHistory(histories, at: state.revision)
        try? state.writeSnapshot(for: .replica(historyAfter: .zero)) { payload throws(SharedCoreError) in
            guard (try? JournalRecord(payload[...])) != nil else { fatalError("finding: a history cannot be read") }
        }
    }

    static func write(_ record: JournalRecord) throws -> [UInt8] {
        switch record {
        case .effect(let effect): return try effect.payload()
        case .snapshot(let part):
            var writer = RecordWriter()
            try writer.snapshotPart(part)
            return writer.bytes.bytes
        }
    }
}
