package import BackendRegistry
package import Coordination
package import CoreAPI
internal import Platform

/// The group that given values, the environment and a file describe: what `ConfiguredGroup` offers, without a reader of files.
package struct ResolvedGroup: Sendable {
    package var backend: BackendConfiguration
    package var coordination: CoordinationOptions
    package var directory: String?

    /// Where the backend was named, for messages.
    private let backendPlace: String
    #if ZMQ
        private let hubProgram: HubProgram
        /// The variables of the environment that a hub gets.
        private let hubInheritance: Set<String>
    #endif

    /// Reads the configuration of this process.
    ///
    /// - Parameters:
    ///   - values: Settings by their keys, which come before the environment.
    ///   - file: The path of the file; nil for the one that the environment or the user has.
    ///   - program: The path of `sharedcore`, which starts a hub; nil for the one beside this program, else along `PATH`.
    ///   - readFile: Reads the file that was searched for. It runs on a thread that may block.
    package static func read(
        _ values: [String: String], file: String?, program: String?,
        by readFile: @escaping @Sendable (ConfigurationSearch) throws(ConfigurationFailure) -> ConfigurationFile?
    ) async throws(SharedCoreError) -> ResolvedGroup {
        // A file may be on a network, and a pipe's writer slow.
        try await SerialThread(name: "sc-config").run { () throws(SharedCoreError) in
            do throws(ConfigurationFailure) {
                let environment = EnvironmentLayer.isForeign ? [:] : try EnvironmentLayer.ofProcess()
                return try ResolvedGroup(
                    values,
                    file: { () throws(ConfigurationFailure) in
                        try readFile(ConfigurationSearch(file: file, environment: environment))
                    },
                    program: program, environment: environment,
                    workingDirectory: (try? OwnProcess.workingDirectory()).map { .init($0) } ?? .gone)
            } catch {
                throw error.error
            }
        }
    }

    /// Joins the group, as `ConfiguredGroup.open(as:in:)` documents.
    package func open(
        as description: SessionDescription, in registry: BackendRegistry?
    ) async throws(SharedCoreError) -> any SharedGroup {
        var backends = try backends(in: registry)
        #if ZMQ
            if backend.startsHub, let program = try await hubProgramPath() {
                backends.startHubs(with: backend.hubLauncher(program: program, inheriting: hubInheritance))
            }
        #endif
        return try await backends.open(backend, as: description)
    }

    /// Opens the group to read it, as `ConfiguredGroup.openToRead(as:in:)` documents.
    package func openToRead(
        as description: SessionDescription, in registry: BackendRegistry?
    ) async throws(SharedCoreError) -> any SharedGroup {
        let backends = try backends(in: registry)
        #if ZMQ
            if backend.isWithoutHub {
                guard let files = backend.inFiles else {
                    throw SharedCoreError(
                        .unavailable, "There is no such group: no hub has it in memory.", at: backend.group)
                }
                return try await FileFactory().openToRead(files, as: description)
            }
        #endif
        return try await backends.openToRead(backend, as: description)
    }

    /// The backends to open with, of which the configured one is one.
    private func backends(in registry: BackendRegistry?) throws(SharedCoreError) -> BackendRegistry {
        let backends = registry ?? .bundled()
        guard backends.names.contains(backend.backend) else {
            throw SharedCoreError(
                .unsupported,
                "There is no backend “\(backend.backend)” here; there is \(backends.names.joined(separator: ", ")).",
                at: backendPlace)
        }
        if registry == nil, backend.backend == "memory" {
            throw SharedCoreError(
                .unsupported,
                "The backend “memory” lives in one process, in the memory of a registry; give the registry to open in.",
                at: backendPlace)
        }
        return backends
    }

    #if ZMQ
        /// The program that starts a hub; nil where there is none and none is needed, as a hub serves.
        private func hubProgramPath() async throws(SharedCoreError) -> String? {
            let (hubProgram, backend) = (hubProgram, backend)
            return try await SerialThread(name: "sc-config").run { () throws(SharedCoreError) -> String? in
                do throws(SharedCoreError) {
                    return try hubProgram.find()
                } catch {
                    if backend.isWithoutHub { throw error }
                    return nil
                }
            }
        }
    #endif

    /// Resolves what was read of an environment.
    package init(
        _ values: [String: String], file: () throws(ConfigurationFailure) -> ConfigurationFile?, program: String?,
        environment: [String: String], workingDirectory: WorkingDirectory
    ) throws(ConfigurationFailure) {
        try FormerNames.refuse(in: environment)
        let own = OwnBackend(in: values)
        try Self.check(values, besides: own)
        let resolution = Resolution(
            values: values.filter { own == nil || $0.key != Settings.backend.name }, environment: environment,
            file: try file(), workingDirectory: workingDirectory)
        _ = try resolution.overview()
        if let own {
            backend = try own.configuration(resolution, values)
        } else {
            backend = try resolution.backendConfiguration()
        }
        coordination = try resolution.coordinationOptions()
        directory = backend.backend == "memory" ? nil : try resolution.groupDirectory()
        let origin = own == nil ? resolution.find(Settings.backend.erased)?.origin : .value(Settings.backend.name)
        backendPlace = origin?.description ?? Settings.backend.name
        #if ZMQ
            hubProgram = HubProgram(
                named: try program.map { path throws(ConfigurationFailure) in try resolution.absolutePath(path) },
                searchPath: environment["PATH"] ?? "")
            hubInheritance = Set(
                environment.keys.filter { Self.inherited.contains($0) || $0.hasPrefix("XDG_") })
        #endif
    }

    /// The variables that a hub inherits, beside `XDG_*`. Others could make it load or read files that the user did not choose
    /// for it.
    private static let inherited: Set = ["HOME", "PATH", "TMPDIR", "LANG"]

    /// Refuses values that have no key, or say nothing.
    private static func check(
        _ values: [String: String], besides own: OwnBackend?
    ) throws(ConfigurationFailure) {
        for (key, text) in values.sorted(by: { $0.key < $1.key }) {
            let place = SettingOrigin.value(key).description
            guard Settings.all.contains(where: { $0.name == key }) || own?.hasKey(key) == true else {
                throw .unknownKey(key, at: place)
            }
            guard !text.isEmpty else { throw ConfigurationFailure(at: place, "the value is empty.") }
        }
    }
}

/// A backend that is not bundled. Only the values of a program name one: the programs of this package read the same file, and
/// refuse its name there.
private struct OwnBackend {
    let name: String

    /// Nil where the values name none.
    init?(in values: [String: String]) {
        guard let name = values[Settings.backend.name], !name.isEmpty, !Settings.backend.kind.choices.contains(name)
        else {
            return nil
        }
        self.name = name
    }

    /// Whether a key is one of its own.
    func hasKey(_ key: String) -> Bool { key.hasPrefix(name + ".") }

    func configuration(
        _ resolution: Resolution, _ values: [String: String]
    ) throws(ConfigurationFailure) -> BackendConfiguration {
        BackendConfiguration(
            backend: name, group: try resolution.value(Settings.group), stateDirectory: try resolution.stateDirectory(),
            durability: resolution.find(Settings.durability.erased) == nil
                ? nil : try resolution.value(Settings.durability),
            settings: values.filter { hasKey($0.key) })
    }
}
