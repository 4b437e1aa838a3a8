public import CoreAPI

/// What a timeline proves.
///
/// Source: contract C15.
public struct CheckReport: Hashable, Sendable {
    /// How many entries were read.
    public let entryCount: Int
    /// The rules that are broken, in the order of the commits that show it.
    public let violations: [Violation]
    /// How many times the witness saw two cores run that both had a right to; those before the checkpoint counted.
    public let overlaps: Int
    /// How many times the witness saw a core run on that was fenced or given up; those before the checkpoint counted.
    public let supersededOverlaps: Int
    /// Nothing is proved about commits up to and with this one, because their entries were dropped; nil when the whole
    /// history was read.
    public let unprovedThrough: Revision?

    package init(
        entryCount: Int, violations: [Violation], overlaps: Int, supersededOverlaps: Int, unprovedThrough: Revision?
    ) {
        self.entryCount = entryCount
        self.violations = violations
        self.overlaps = overlaps
        self.supersededOverlaps = supersededOverlaps
        self.unprovedThrough = unprovedThrough
    }

    /// Whether no rule was broken and no two cores ran that both had a right to.
    public var isClean: Bool { violations.isEmpty && overlaps == 0 }

    /// The result in one sentence, for people.
    public func describe() -> String {
        let extent =
            unprovedThrough.map { "after revision \($0); what lies before it is unproved" } ?? "the whole history"
        let rules = violations.isEmpty ? "nothing breaks C1-C6, C14 or C15" : "violations: \(violations.count)"
        return "\(entryCount) entries, \(extent): \(rules); overlaps: \(overlaps), of superseded cores: "
            + "\(supersededOverlaps)."
    }
}
