/// One level of the table that an application wants otherwise.
///
/// Made by code, or of the three words that a line of configuration has.
///
/// Source: contract P1.
public struct ServiceLevelOverride: Hashable, Sendable {
    /// The service.
    public let service: Service
    /// The state of the application; never ``ApplicationState/suspended``.
    public let application: ApplicationState
    /// The level in place of the table's.
    public let level: ServiceLevel

    /// - Throws: ``LifecycleError/Code/invalidOverride`` when the level means nothing for the service, when the state is
    ///   ``ApplicationState/suspended``, where nothing runs, or when an active call would lose its full service
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

    /// The override that three words of a configuration mean, each the name of a case.
    ///
    /// - Throws: ``LifecycleError/Code/invalidOverride`` with what would be right, also for an unknown word.
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
