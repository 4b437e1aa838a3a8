internal import BackendRegistry
internal import CoreAPI

#if ZMQ
    internal import ZMQBackend
#endif

extension Resolution {
    /// A row of the settings in force.
    package struct Row: Hashable, Sendable {
        package let key: String
        /// The value as it is used, which may be a secret.
        package let value: String
        package let origin: SettingOrigin
        var isSecret = false

        /// The value for people.
        package var shown: String { isSecret && origin != .fallback ? "(secret)" : value }
    }

    /// Returns every setting with its value and its source.
    package func overview() throws(ConfigurationFailure) -> [Row] {
        var rows: [Row] = []
        for setting in settings { rows.append(try row(of: setting)) }
        return rows
    }

    /// Returns a setting with its value and its source.
    package func row(of setting: AnySetting) throws(ConfigurationFailure) -> Row {
        guard let found = find(setting) else {
            return Row(
                key: setting.name, value: try shown(setting) ?? setting.fallback.description, origin: .fallback)
        }
        guard setting.accepts(found.text) else {
            throw .wrongValue(found.text, of: setting, at: found.origin.description)
        }
        return Row(
            key: setting.name, value: try shown(setting) ?? found.text, origin: found.origin,
            isSecret: setting.isSecret)
    }

    /// Returns the environment variables that pass the same configuration to another process, without a file. All
    /// processes that read settings get them in this way; the slim Executor, which reads none, gets arguments.
    package func variables() throws(ConfigurationFailure) -> [String: String] {
        var variables = [EnvironmentLayer.fileVariable: ConfigurationSearch.nothing]
        for row in try overview() where row.origin != .fallback {
            guard let setting = settings.first(where: { $0.name == row.key }) else { continue }
            variables[setting.environmentName] = row.value
        }
        // The default depends on the environment of the reading process.
        variables[Settings.stateDirectory.erased.environmentName] = try stateDirectory()
        return variables
    }

    /// Refuses a backend that this build does not have.
    package func checkBackend(among names: [String]) throws(ConfigurationFailure) {
        let backend = try value(Settings.backend)
        guard !names.contains(backend) else { return }
        let place = find(Settings.backend.erased)?.origin.description ?? Settings.backend.name
        let error = SharedCoreError.noBackend(backend, among: names, at: place)
        throw ConfigurationFailure(error.code, at: place, error.message)
    }

    /// Returns the backend's own default durability; nil if that is the setting's default.
    private func ownDurability() throws(ConfigurationFailure) -> Durability? {
        if let factory { return factory.durability }
        switch try value(Settings.backend) {
        case "memory": return .memory
        #if ZMQ
            case "zmq" where try value(Settings.zmqStorage) == "memory": return .memory
        #endif
        default: return nil
        }
    }

    /// Returns the value to show. Paths and the durability are shown as they are used.
    func shown(_ setting: AnySetting) throws(ConfigurationFailure) -> String? {
        switch setting.name {
        case Settings.stateDirectory.name: try stateDirectory()
        case Settings.pluginDirectory.name: try absolutePath(Settings.pluginDirectory)
        case Settings.durability.name where find(setting) == nil: try ownDurability()?.rawValue
        case Settings.coreMaildir.name: try maildir()
        case Settings.coreCommand.name: try coreCommand().map(CommandText.write)
        case Settings.metricsListen.name:
            if case .path(let path) = try metricsPlace() { path } else { nil }
        case Settings.pushMaildir.name: try absolutePath(Settings.pushMaildir)
        case Settings.pushSocket.name: try pushSocket() ?? "none"
        case Settings.zmqSecretKey.name: try absolutePath(Settings.zmqSecretKey)
        case Settings.zmqClientKeys.name: try absolutePath(Settings.zmqClientKeys)
        case Settings.etcdAuthorities.name: try absolutePath(Settings.etcdAuthorities)
        case Settings.etcdCertificate.name: try absolutePath(Settings.etcdCertificate)
        case Settings.etcdKey.name: try absolutePath(Settings.etcdKey)
        #if ZMQ
            case Settings.zmqEndpoint.name where try value(Settings.backend) == "zmq": try hubEndpoint().description
        #endif
        default:
            if factory?.settings.first(where: { $0.key == setting.name })?.isPath == true, let found = find(setting),
                !setting.fallback.isGiven(by: found.text)
            {
                try absolutePath(found.text, of: setting)
            } else {
                nil
            }
        }
    }
}
