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
