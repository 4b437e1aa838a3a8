internal import ProgramOutput

/// The result of a figure: its samples beside those of its limit and of its peers, from one run.
struct FigureResult: Sendable {
    /// A rival of the figure.
    struct Rival: Sendable {
        let name: String
        var samples = Samples()
        /// The reason that there are no samples, where it is not installed here.
        var absence: String?
    }

    let name: String
    let unit: String
    var own = Samples()
    var limit: Rival?
    var peers: [Rival] = []
    var beside: [Rival] = []

    /// The peer that is hardest to beat.
    var bestPeer: Rival? {
        peers.filter { $0.samples.count > 0 }.min { ($0.samples.p50 ?? 0) < ($1.samples.p50 ?? 0) }
    }

    /// All rivals, each with its kind.
    var rivals: [(kind: String, rival: Rival)] {
        [limit].compactMap { $0 }.map { ("limit", $0) } + peers.map { ("peer", $0) } + beside.map { ("beside", $0) }
    }

    /// The figure's time divided by that of a rival.
    func ratio(to rival: Rival?) -> Double? {
        guard let own = own.p50, let other = rival?.samples.p50, other > 0 else { return nil }
        return own / other
    }

    /// `name unit p50 p99 samples limit limitP50 ratio peer peerP50 peerRatio rivals`; of several peers, the best one.
    var json: JSONObject {
        [
            "name": .text(name), "unit": .text(unit), "p50": .measured(own.p50), "p99": .measured(own.p99),
            "samples": .integer(Int64(own.count)), "limit": .optional(limit?.name),
            "limitP50": .measured(limit?.samples.p50), "ratio": .measured(ratio(to: limit)),
            "peer": .optional(bestPeer?.name), "peerP50": .measured(bestPeer?.samples.p50),
            "peerRatio": .measured(ratio(to: bestPeer)), "rivals": .array(rivals.map { .object(json(of: $1, $0)) }),
        ]
    }

    /// `kind name p50 p99 samples ratio ratioLow ratioHigh absent`: the quartiles of the ratios of each round.
    private func json(of rival: Rival, _ kind: String) -> JSONObject {
        let spread = own.ratios(to: rival.samples)
        return [
            "kind": .text(kind), "name": .text(rival.name), "p50": .measured(rival.samples.p50),
            "p99": .measured(rival.samples.p99), "samples": .integer(Int64(rival.samples.count)),
            "ratio": .measured(ratio(to: rival)), "ratioLow": .measured(spread?.low),
            "ratioHigh": .measured(spread?.high), "absent": .optional(rival.absence),
        ]
    }
}

extension JSONValue {
    fileprivate static func measured(_ value: Double?) -> JSONValue { value.map { .number($0) } ?? .null }
}

extension FigureResult {
    /// The result of a figure of which nothing was measured yet.
    init(of figure: Figure) {
        self.init(
            name: figure.name, unit: figure.unit, limit: figure.limit.map { Rival(name: $0.name) },
            peers: figure.peers.map { Rival(name: $0.name) }, beside: figure.beside.map { Rival(name: $0.name) })
    }
}
