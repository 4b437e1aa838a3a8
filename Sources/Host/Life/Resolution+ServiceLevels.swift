internal import Lifecycle

extension Resolution {
    /// The table of service levels, with what is configured in place of its own.
    func serviceLevels() throws(CommandFailure) -> ServiceLevelTable {
        var overrides: [ServiceLevelOverride] = []
        for service in Service.allCases {
            for application in Settings.levelledStates {
                let setting = Settings.level(of: service, in: application)
                guard try find(setting.erased) != nil else { continue }
                let level = try value(setting)
                do throws(LifecycleError) {
                    overrides.append(try ServiceLevelOverride(service, in: application, to: level))
                } catch {
                    throw .configuration("\(setting.name): \(error.message)")
                }
            }
        }
        return ServiceLevelTable(replacing: overrides)
    }
}
