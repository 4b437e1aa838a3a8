/// The measured values of one thing.
struct Samples: Hashable, Sendable {
    private(set) var values: [Double] = []
    /// The median of each round.
    private(set) var rounds: [Double] = []

    init(_ values: [Double] = []) {
        self.values = values.sorted()
        rounds = values
    }

    var count: Int { values.count }

    mutating func add(_ value: Double) {
        add(round: [value])
    }

    /// Adds the samples of one round.
    mutating func add(round: [Double]) {
        guard !round.isEmpty else { return }
        values = (values + round).sorted()
        rounds.append(Self.quantile(0.5, of: round.sorted()) ?? 0)
    }

    /// The value that a share of all do not exceed, by nearest rank; nil when there is none.
    func quantile(_ share: Double) -> Double? {
        Self.quantile(share, of: values)
    }

    var p50: Double? { quantile(0.5) }
    var p99: Double? { quantile(0.99) }

    /// The ratio to the times of another, round by round: the first and the third quartile.
    func ratios(to other: Samples) -> (low: Double, high: Double)? {
        let ratios = zip(rounds, other.rounds).filter { $1 > 0 }.map { $0 / $1 }.sorted()
        guard let low = Self.quantile(0.25, of: ratios), let high = Self.quantile(0.75, of: ratios) else { return nil }
        return (low, high)
    }

    private static func quantile(_ share: Double, of sorted: [Double]) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let rank = Int((share * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}
