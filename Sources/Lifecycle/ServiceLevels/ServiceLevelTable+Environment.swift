extension ServiceLevelTable {
    /// The table with the levels that the configuration of `sharedcore` replaces, as the environment of a process has them
    /// that its Host or its keeper has started: `SHAREDCORE_SERVICE_LEVELS_PRESENCE_PUBLISH_BACKGROUND` and the like.
    ///
    /// - Throws: ``LifecycleError/Code/invalidOverride`` for a level that means nothing.
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
