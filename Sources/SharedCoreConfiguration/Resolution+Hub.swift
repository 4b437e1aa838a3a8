#if ZMQ
    package import BackendRegistry
    internal import CoreAPI
    internal import ProgramOutput
    package import ZMQBackend

    extension Resolution {
        /// Returns the settings of a hub and its clients for the backend: the configured ones, with absolute paths, and
        /// the endpoint of the hub.
        package func hubSettings() throws(ConfigurationFailure) -> [String: String] {
            var settings: [String: String] = [:]
            for setting in Settings.all where setting.name.hasPrefix("zmq.") {
                guard let found = find(setting), !setting.fallback.isGiven(by: found.text) else { continue }
                guard setting.accepts(found.text) else {
                    throw .wrongValue(found.text, of: setting, at: found.origin.description)
                }
                settings[setting.name] = try shown(setting) ?? found.text
            }
            settings[Settings.zmqEndpoint.name] = try hubEndpoint().description
            settings[Settings.zmqHub.name] = try value(Settings.zmqHub)
            return settings
        }

        /// Returns the hub's endpoint.
        package func hubEndpoint() throws(ConfigurationFailure) -> HubEndpoint {
            let found = find(Settings.zmqEndpoint.erased)
            let directory = try groupDirectory()
            do throws(SharedCoreError) {
                if let found { return try Self.shared(HubEndpoint(found.text)) }
                return try HubEndpoint.standard(
                    forGroup: directory, runtimeDirectory: UserDirectory.runtime.path(in: environment))
            } catch {
                throw ConfigurationFailure(
                    error.code, at: found?.origin.description, "zmq.endpoint: \(error.sentence)")
            }
        }

        /// Refuses an endpoint that other processes cannot reach.
        private static func shared(_ endpoint: HubEndpoint) throws(SharedCoreError) -> HubEndpoint {
            guard case .inproc = endpoint else { return endpoint }
            throw SharedCoreError(
                .invalidArgument, "Such an endpoint lives in one process; here it is ipc:// or tcp://.",
                at: "\(endpoint)")
        }

        /// Returns the environment variables that pass the configuration of a hub to another process, without a file.
        package func hubVariables() throws(ConfigurationFailure) -> [String: String] {
            try overridden(by: [Settings.backend.name: "zmq"]).backendConfiguration().hubVariables
        }
    }

    extension BackendConfiguration {
        /// Returns the program with which a client of the configured group starts a hub. It gets this configuration,
        /// even if its working directory has another one.
        ///
        /// - Parameter inherited: The variables of this process's environment that it inherits; nil for all of them.
        package func hubLauncher(program: String, inheriting inherited: Set<String>? = nil) -> HubLauncher {
            HubLauncher(
                program: program, arguments: ["hub", "--detach"], variables: hubVariables, inherited: inherited)
        }

        /// True if the first client must start a hub when none serves.
        package var startsHub: Bool { backend == "zmq" && settings[Settings.zmqHub.name] != "none" }

        /// True if no hub serves the configured group, and joining it would start one.
        package var isWithoutHub: Bool {
            guard startsHub, case .ipc(let path)? = try? ZMQFactory.endpoint(of: self) else { return false }
            let seat = try? HubEndpointState.ofSocket(path)
            return seat == .free || seat == .abandoned
        }

        /// The same group in the files that a hub started by joining would serve; nil if that hub would keep the group
        /// in memory.
        package var inFiles: BackendConfiguration? {
            guard settings[Settings.zmqStorage.name] != "memory" else { return nil }
            var configuration = self
            configuration.backend = "file"
            return configuration
        }

        fileprivate var hubVariables: [String: String] {
            var variables = [
                EnvironmentLayer.fileVariable: ConfigurationSearch.nothing,
                Settings.backend.erased.environmentName: "zmq",
                Settings.group.erased.environmentName: group,
                Settings.stateDirectory.erased.environmentName: stateDirectory,
            ]
            variables[Settings.durability.erased.environmentName] = durability?.rawValue
            // The hub could inherit a variable with a value that this configuration does not have.
            for setting in Settings.all where setting.name.hasPrefix("zmq.") {
                guard case .none = setting.fallback else { continue }
                variables[setting.environmentName] = SettingFallback.noneText
            }
            for (key, text) in settings where key.hasPrefix("zmq.") {
                variables[EnvironmentLayer.variable(of: key)] = text
            }
            return variables
        }
    }
#endif
