public import CoreAPI

/// A rule of the contract that a timeline shows to be broken.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// The rules that a timeline can prove or disprove.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// At most one owner; rising epochs; the states in their order.
        case c1 = "C1"
        /// No Executor owns while a Main does.
        case c2 = "C2"
        /// A Main is not refused because of an Executor, and asks before it takes.
        case c3 = "C3"
        /// Nothing of a superseded owner takes effect.
        case c4 = "C4"
        /// Ownership ends in three ways only.
        case c5 = "C5"
        /// Only an unanswered challenge shows that an owner is frozen; a Main is never killed.
        case c6 = "C6"
        /// A second Main takes over only after it asked.
        case c14 = "C14"
        /// The timeline itself: readable, written once, by whoever it tells of.
        case c15 = "C15"
    }

    /// The rule.
    public let rule: Rule
    /// The commit that shows it.
    public let revision: Revision
    /// What is wrong there, for people.
    public let sentence: String

    public init(_ rule: Rule, at revision: Revision, _ sentence: String) {
        self.rule = rule
        self.revision = revision
        self.sentence = sentence
    }

    public var description: String { "\(rule.rawValue) at revision \(revision): \(sentence)" }
}
