public import CoreAPI

/// Checks a timeline against the rules of ownership, and reports each violation.
///
/// Pure: the same history gives the same report.
///
/// Source: contract C15.
public enum TimelineChecker {
    /// Checks a history from its checkpoint, or from the beginning if no entries were dropped.
    public static func check(_ history: TimelineHistory) -> CheckReport {
        var ledger = history.checkpoint?.ledger ?? OwnershipLedger()
        var violations = history.damages
        for record in history.records { violations += ledger.apply(record) }
        violations.sort { $0.revision < $1.revision }
        return CheckReport(
            entryCount: history.records.count, violations: violations, overlaps: ledger.overlaps,
            supersededOverlaps: ledger.supersededOverlaps, unprovedThrough: history.checkpoint?.through)
    }
}

/// The result of checking a timeline.
///
/// Source: contract C15.
public struct CheckReport: Hashable, Sendable {
    /// How many entries were read.
    public let entryCount: Int
    /// The rules that are broken, in the order of the commits that show it.
    public let violations: [Violation]
    /// How often the witness saw two running cores that both had the right to run. Includes those before the
    /// checkpoint.
    public let overlaps: Int
    /// How often the witness saw a core run after it was fenced or given up, or after its session with a lease had
    /// ended. Includes those before the checkpoint.
    public let supersededOverlaps: Int
    /// Commits up to and including this one were not checked, because their entries were dropped; nil if the whole
    /// history was checked.
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

    /// True if no rule was broken, and no two cores that had the right to run ran at once.
    public var isClean: Bool { violations.isEmpty && overlaps == 0 }

    /// Returns the result in one sentence, for people.
    public func describe() -> String {
        let extent =
            unprovedThrough.map { "after revision \($0); what lies before it is unproved" } ?? "the whole history"
        let rules =
            violations.isEmpty ? "nothing breaks C1-C6, C14, C15, C25 or C26" : "violations: \(violations.count)"
        let entries = entryCount == 1 ? "1 entry" : "\(entryCount) entries"
        return "\(entries), \(extent): \(rules); overlaps seen by a witness: \(overlaps), "
            + "of superseded cores: \(supersededOverlaps)."
    }
}

/// A rule of the contract that a timeline shows to be broken.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// The rules that a timeline can prove or disprove.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// At most one owner; rising epochs; the states in their order.
        case c1 = "C1"
        /// No Executor owns while a Main does.
        case c2 = "C2"
        /// A Main is not refused because of an Executor, and asks before it takes over.
        case c3 = "C3"
        /// No write of a superseded owner takes effect.
        case c4 = "C4"
        /// Ownership ends in three ways only.
        case c5 = "C5"
        /// Only an unanswered challenge shows that an owner is frozen; a Main is never killed.
        case c6 = "C6"
        /// A second Main takes over only after it asked.
        case c14 = "C14"
        /// The timeline itself: each entry is readable, was written once, and by the participant that it is about.
        case c15 = "C15"
        /// A call moves once with each baton, to the owner.
        case c25 = "C25"
        /// A Main that rests stays the owner, and has its full time to resume.
        case c26 = "C26"
    }

    /// The rule.
    public let rule: Rule
    /// The commit that shows it.
    public let revision: Revision
    /// The fault, as a sentence for users.
    public let sentence: String

    public init(_ rule: Rule, at revision: Revision, _ sentence: String) {
        self.rule = rule
        self.revision = revision
        self.sentence = sentence
    }

    public var description: String { "\(rule.rawValue) at revision \(revision): \(sentence)" }
}
