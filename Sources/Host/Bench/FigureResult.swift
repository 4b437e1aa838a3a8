internal import ProgramOutput

/// What came of a figure: its samples beside those of its limit and of its peers, from one run.
struct FigureResult: Sendable {
    /// What a figure is compared with.
    struct Rival: Sendable {
        let name: String
        var samples = Samples()
    }

    let name: String
    let unit: String
    var own = Samples()
    var limit: Rival?
    var peers: [Rival] = []

    /// The peer that is hardest to beat.
    var bestPeer: Rival? {
        peers.filter { $0.samples.count > 0 }.min { ($0.samples.p50 ?? 0) < ($1.samples.p50 ?? 0) }
    }

    /// How many times as long the figure takes as a rival.
    func ratio(to rival: Rival?) -> Double? {
        guard let own = own.p50, let other = rival?.samples.p50, other > 0 else { return nil }
        return own / other
    }

    /// `name unit p50 p99 samples limit limitP50 ratio peer peerP50 peerRatio`; of several peers, the best one.
    var json: JSONObject {
        [
            "name": .text(name), "unit": .text(unit), "p50": .measured(own.p50), "p99": .measured(own.p99),
            "samples": .integer(Int64(own.count)), "limit": .optional(limit?.name),
            "limitP50": .measured(limit?.samples.p50), "ratio": .measured(ratio(to: limit)),
            "peer": .optional(bestPeer?.name), "peerP50": .measured(bestPeer?.samples.p50),
            "peerRatio": .measured(ratio(to: bestPeer)),
        ]
    }
}

extension JSONValue {
    fileprivate static func measured(_ value: Double?) -> JSONValue { value.map { .number($0) } ?? .null }
}
