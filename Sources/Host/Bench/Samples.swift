/// The measured values of one thing.
struct Samples: Hashable, Sendable {
    private(set) var values: [Double] = []

    init(_ values: [Double] = []) {
        self.values = values.sorted()
    }

    var count: Int { values.count }

    mutating func add(_ value: Double) {
        values.insert(value, at: values.firstIndex { $0 > value } ?? values.endIndex)
    }

    /// The value that a share of all do not exceed, by nearest rank; nil when there is none.
    func quantile(_ share: Double) -> Double? {
        guard !values.isEmpty else { return nil }
        let rank = Int((share * Double(values.count)).rounded(.up))
        return values[min(max(rank, 1), values.count) - 1]
    }

    var p50: Double? { quantile(0.5) }
    var p99: Double? { quantile(0.99) }
}
