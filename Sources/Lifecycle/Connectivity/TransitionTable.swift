/// The table of transitions, as data.
///
/// Source: contract P2.
public struct TransitionTable: Hashable, Sendable {
    /// The table of this package: rows T1 to T18.
    public static let standard = TransitionTable(rows: TransitionNumber.allCases.map(TransitionRow.standard))

    /// The rows, by number.
    public private(set) var rows: [TransitionRow]

    init(rows: [TransitionRow]) {
        self.rows = rows
    }

    /// The row of a number.
    public package(set) subscript(number: TransitionNumber) -> TransitionRow {
        get { rows[number.rawValue - 1] }
        set { rows[number.rawValue - 1] = newValue }
    }

    /// Returns the row for an event at a position; nil for a cell that is not listed.
    public func row(for event: ConnectivityEvent.Kind, at position: LifecyclePosition) -> TransitionRow? {
        rows.first { $0.applies(to: event, at: position) }
    }
}

/// One row of the table of transitions: the position before, the event, the position after, and the actions.
///
/// Source: contract P2.
public struct TransitionRow: Hashable, Sendable {
    /// The number of the transition.
    public var number: TransitionNumber
    /// The events of the row; two for a cellular call, which begins and ends.
    public var events: [ConnectivityEvent.Kind]
    /// The positions before the event.
    public var from: [LifecyclePosition]
    /// The application's state afterwards; nil if it does not change.
    public var application: ApplicationState?
    /// The connectivity afterwards; nil if it does not change, or if the actions determine it.
    public var connectivity: Connectivity?
    /// The actions, in order. ``ConnectivityMachine`` decides the consequences of their outcomes.
    public var actions: [ConnectivityAction]
    /// The source of the row.
    public var source: RuleSource
    /// The row as a sentence.
    public var sentence: String

    /// Returns whether the row applies to an event at a position.
    public func applies(to event: ConnectivityEvent.Kind, at position: LifecyclePosition) -> Bool {
        events.contains(event) && from.contains(position)
    }
}

/// The number of a row in the table of transitions.
///
/// Source: contract P2.
public enum TransitionNumber: Int, CaseIterable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    case t1 = 1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18

    public var description: String { "T\(rawValue)" }

    public static func < (left: TransitionNumber, right: TransitionNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}
