/// The table of transitions, as data.
///
/// Source: contract P2.
public struct TransitionTable: Hashable, Sendable {
    /// The table of this package: rows T1 to T18.
    public static let standard = TransitionTable(rows: TransitionNumber.allCases.map(TransitionRow.standard))

    /// The rows by their numbers.
    public private(set) var rows: [TransitionRow]

    init(rows: [TransitionRow]) {
        self.rows = rows
    }

    /// The row of a number.
    public package(set) subscript(number: TransitionNumber) -> TransitionRow {
        get { rows[number.rawValue - 1] }
        set { rows[number.rawValue - 1] = newValue }
    }

    /// The row that is about an event at a position; nil for a cell that is not listed.
    public func row(for event: ConnectivityEvent.Kind, at position: LifePosition) -> TransitionRow? {
        rows.first { $0.applies(to: event, at: position) }
    }
}
