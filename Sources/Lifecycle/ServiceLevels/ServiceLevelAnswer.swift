/// The level of a service in a situation, and why it is so.
public struct ServiceLevelAnswer: Hashable, Sendable, CustomStringConvertible {
    /// What decided a level.
    public enum Rule: String, CaseIterable, Hashable, Sendable {
        /// The row of the service.
        case table
        /// A suspended application has no service.
        case suspended
        /// A cellular call takes media away (contract P3).
        case cellularCall
        /// Another call has the media.
        case otherActiveCall
    }

    /// What was asked about.
    public let service: Service
    /// In which situation.
    public let situation: Situation
    /// The answer.
    public let level: ServiceLevel
    /// What decided it.
    public let rule: Rule
    /// Where that rule comes from.
    public let source: RuleSource
    /// One or two sentences for people.
    public let reason: String

    public var description: String { "\(service): \(level). \(reason) [\(rule), \(source)]" }
}
