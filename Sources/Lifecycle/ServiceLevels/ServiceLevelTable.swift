/// The level of each service in each of the conditions, as data.
///
/// ```swift
/// let table = ServiceLevelTable.standard
/// table.level(of: .heldCall, in: ServiceConditions(.background))  // .signalingOnly
/// print(table.explain(.heldCall, in: ServiceConditions(.background)))
/// ```
///
/// Source: contract P1, P3.
public struct ServiceLevelTable: Hashable, Sendable {
    /// The unmodified table.
    public static let standard = ServiceLevelTable()

    private var overrides: [Service: [ApplicationState: ServiceLevel]] = [:]

    private init() {}

    /// Creates the standard table with some levels replaced; of two overrides of one level the last one counts.
    public init(replacing overrides: [ServiceLevelOverride]) {
        for override in overrides {
            self.overrides[override.service, default: [:]][override.application] = override.level
        }
    }

    /// Returns the row of a service, with its overrides.
    public subscript(service: Service) -> ServiceLevelRow {
        var row = ServiceLevelRow.standard(service)
        guard let replaced = overrides[service] else { return row }
        row.foreground = replaced[.foreground] ?? row.foreground
        row.background = replaced[.background] ?? row.background
        row.source = .configured
        return row
    }

    /// Returns the level of a service under given conditions.
    public func level(of service: Service, in conditions: ServiceConditions) -> ServiceLevel {
        explain(service, in: conditions).level
    }

    /// Returns the level of a service under given conditions, with the deciding rule.
    public func explain(_ service: Service, in conditions: ServiceConditions) -> ServiceLevelExplanation {
        let row = self[service]
        let isReplaced = overrides[service]?[conditions.application] != nil
        let source = isReplaced ? .configured : ServiceLevelRow.standard(service).source
        func answer(
            _ level: ServiceLevel, by rule: ServiceLevelExplanation.Rule, _ reason: String, _ source: RuleSource
        ) -> ServiceLevelExplanation {
            ServiceLevelExplanation(
                service: service, conditions: conditions, level: level, rule: rule, source: source, reason: reason)
        }

        let level: ServiceLevel
        switch conditions.application {
        case .suspended:
            return answer(
                .none, by: .suspended, "A suspended application has no service until it is woken.",
                .documented(.appleVoiceOverIP))
        case .foreground: level = row.foreground
        case .background: level = row.background
        }
        if conditions.hasCellularCall, service.hasMedia, level == .normal {
            return answer(
                .signalingOnly, by: .cellularCall,
                service == .activeCall
                    ? "A cellular call takes media away: the call is held by signaling until it ends."
                    : "A cellular call takes media away until it ends.", .documented(.avayaBackgrounding))
        }
        if conditions.hasOtherActiveCall, conditions.application == .background, service == .remotelyHeldCall,
            level == .normal
        {
            return answer(
                .signalingOnly, by: .otherActiveCall, "Media returns only if there is no other active call.", .derived)
        }
        return answer(level, by: .table, isReplaced ? "The configuration says so." : row.note, source)
    }
}

/// The level of a service under given conditions, with the reason.
public struct ServiceLevelExplanation: Hashable, Sendable, CustomStringConvertible {
    /// The rule that decided a level.
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

    /// The service.
    public let service: Service
    /// The conditions.
    public let conditions: ServiceConditions
    /// The level.
    public let level: ServiceLevel
    /// The rule that decided it.
    public let rule: Rule
    /// The source of that rule.
    public let source: RuleSource
    /// One or two sentences for people.
    public let reason: String

    public var description: String { "\(service): \(level). \(reason) [\(rule), \(source)]" }
}

extension ServiceLevelTable {
    /// Creates the table with the overrides of the configuration of `sharedcore`, which a process that was started by
    /// its Host or its keeper has in its environment: `SHAREDCORE_SERVICE_LEVELS_PRESENCE_PUBLISH_BACKGROUND` and the
    /// like.
    ///
    /// - Throws: ``LifecycleError/Code/invalidOverride`` for an impossible level.
    public init(environment: [String: String]) throws(LifecycleError) {
        var overrides: [ServiceLevelOverride] = []
        for service in Service.allCases {
            for application in [ApplicationState.foreground, .background] {
                let words = [service.rawValue, application.rawValue].map(\.inCapitals).joined(separator: "_")
                guard let level = environment["SHAREDCORE_SERVICE_LEVELS_" + words], !level.isEmpty else { continue }
                overrides.append(
                    try ServiceLevelOverride(
                        service: service.rawValue, application: application.rawValue, level: level))
            }
        }
        self.init(replacing: overrides)
    }
}

extension String {
    /// `presencePublish` as `PRESENCE_PUBLISH`.
    fileprivate var inCapitals: String {
        reduce(into: "") { $0 += ($1.isUppercase && $0.last?.isLowercase == true ? "_" : "") + String($1) }.uppercased()
    }
}

/// An override of one level of the table.
///
/// It is created by code, or from the three words of a configuration line.
///
/// Source: contract P1.
public struct ServiceLevelOverride: Hashable, Sendable {
    /// The service.
    public let service: Service
    /// The state of the application; never ``ApplicationState/suspended``.
    public let application: ApplicationState
    /// The level that replaces the table's.
    public let level: ServiceLevel

    /// Makes an override of the level of a service in one state of the application.
    ///
    /// - Throws: ``LifecycleError/Code/invalidOverride`` when the level is not possible for the service, when the state
    ///   is ``ApplicationState/suspended``, in which nothing runs, or when an active call would lose its full service
    ///   (contract P6).
    public init(
        _ service: Service, in application: ApplicationState, to level: ServiceLevel
    ) throws(LifecycleError) {
        guard application != .suspended else {
            throw LifecycleError(
                .invalidOverride, "A suspended application has no service; only foreground and background have levels.",
                at: service.rawValue)
        }
        guard service.possibleLevels.contains(level) else {
            let possible = service.possibleLevels.map(\.rawValue).joined(separator: ", ")
            throw LifecycleError(
                .invalidOverride, "The level of \(service) cannot be \(level); possible is: \(possible).",
                at: "\(service.rawValue).\(application.rawValue)")
        }
        self.service = service
        self.application = application
        self.level = level
    }

    /// Creates an override from three words of a configuration, each the name of a case.
    ///
    /// - Throws: ``LifecycleError/Code/invalidOverride`` with the right form, also for an unknown word.
    public init(service: String, application: String, level: String) throws(LifecycleError) {
        try self.init(
            Self.word(service, as: "service"), in: Self.word(application, as: "application state"),
            to: Self.word(level, as: "level"))
    }

    private static func word<Value: RawRepresentable & CaseIterable>(
        _ text: String, as kind: String
    ) throws(LifecycleError) -> Value where Value.RawValue == String {
        if let value = Value(rawValue: text) { return value }
        let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
        throw LifecycleError(.invalidOverride, "There is no \(kind) “\(text)”; known are: \(known).", at: text)
    }
}
