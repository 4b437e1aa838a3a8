public import BackendRegistry
public import Coordination
public import CoreAPI
internal import Platform
internal import PluginBackend

/// The group that a configuration describes, as the programs of this package open it: from given values, else the environment,
/// else a file, else the defaults.
///
/// ```swift
/// let configured = try await ConfiguredGroup.read(["group": "chat"])
/// let group = try await configured.open(as: SessionDescription(role: .main))
/// try await group.withMain(options: configured.coordination, core: core) { main in … }
/// ```
///
/// `sharedcore help settings` lists the keys. The settings of the host, of cores and of supervision are checked like
/// the others, but have no effect here. In an Executor that a host has started, the environment describes the host's
/// group: pass no values there, because they take precedence.
///
/// Source: decision 37.
public struct ConfiguredGroup: Sendable {
    /// The backend, the group's name and its place, for ``BackendRegistry``.
    ///
    /// A change of ``BackendConfiguration/group`` or ``BackendConfiguration/stateDirectory`` does not change the values
    /// derived from them: ``directory``, and `zmq.endpoint` in ``BackendConfiguration/settings``. Pass them to
    /// ``read(_:file:program:)`` instead.
    public var backend: BackendConfiguration
    /// How ownership and messages are handled, from `handover.*`, `executor.budget`, `inbox.lifetime`,
    /// `calls.lifetime` and `baton.lifetime`.
    public var coordination: CoordinationOptions
    /// The absolute path of the group's directory, for `FileWitness(besideGroup:)`; nil for `memory`. If the group is
    /// not in files of this machine, opening it does not make the directory.
    public var directory: String?

    /// The place that named the backend, for messages.
    private let backendPlace: String
    /// The plugin that is the backend; nil for others.
    private let plugin: BackendPlugin?
    #if ZMQ
        private let hubProgram: HubProgram
        /// The variables of the environment that a hub gets.
        private let hubInheritance: Set<String>
    #endif

    /// Reads the configuration, and checks all of it.
    ///
    /// A value comes from `values`, else from its variable of the environment, such as `SHAREDCORE_HANDOVER_TIMEOUT`, else from the
    /// file, else it is the default. The environment is read once for each call; a program that calls `setenv` meanwhile has
    /// a race, as with `getenv`. An empty variable counts as unset. A process with more rights than its caller (`AT_SECURE`)
    /// reads neither the environment nor the user's file.
    ///
    /// - Parameters:
    ///   - values: Settings by their keys, with dots between their parts, as texts: `["handover.timeout": "2s"]`.
    ///     Relative paths start from the working directory. The application's own backend is named here, with its keys,
    ///     which begin with its name and a dot: they are in ``BackendConfiguration/settings``.
    ///   - file: The path of the file, YAML or JSON; nil for the one that `SHAREDCORE_CONFIG` names, else
    ///     `sharedcore/config.yaml` in `$XDG_CONFIG_HOME` or `~/.config`, if it exists. `/dev/null` reads none. An
    ///     application does not read a file of the working directory, because it may be started anywhere.
    ///   - program: The path of `sharedcore`, which starts a hub; nil for the one beside this program, else along `PATH`.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an unknown key, an invalid or empty value, a named file
    ///   that does not exist, or one that is not YAML; ``SharedCoreError/Code/forbidden`` for a file that belongs to
    ///   another user or that others may write. The location is the place: `/etc/chat.yaml:3:5`, `SHAREDCORE_BACKEND`
    ///   or `values["backend"]`.
    public static func read(
        _ values: [String: String] = [:], file: String? = nil, program: String? = nil
    ) async throws(SharedCoreError) -> ConfiguredGroup {
        // A file may be on a network, and a pipe's writer slow.
        try await SerialThread(name: "sc-config").run { () throws(SharedCoreError) in
            do throws(ConfigurationFailure) {
                let environment = EnvironmentLayer.isForeign ? [:] : try EnvironmentLayer.ofProcess()
                return try ConfiguredGroup(
                    values,
                    file: { () throws(ConfigurationFailure) in
                        try ConfigurationSearch(file: file, environment: environment).read()
                    },
                    program: program, environment: environment,
                    workingDirectory: (try? OwnProcess.workingDirectory()).map { .init($0) } ?? .gone)
            } catch {
                throw error.error
            }
        }
    }

    /// Joins the group. If `zmq.hub` is `auto`, the hub's socket is on this machine and no hub serves there, starts
    /// one: `sharedcore hub --detach`, which outlives this process and stays in its cgroup. The program gets the
    /// settings `group`, `stateDirectory`, `durability` and `zmq.*`. Of the environment, it gets only `HOME`, `PATH`,
    /// `XDG_*`, `TMPDIR` and `LANG`.
    ///
    /// - Parameters:
    ///   - description: The participant's description of itself.
    ///   - registry: The backends; nil for the bundled ones. `memory` needs a registry: the group is in its memory.
    /// - Throws: ``SharedCoreError/Code/unsupported``, at the place that names it, for a missing backend, and for
    ///   `memory` without a registry; ``SharedCoreError/Code/forbidden`` if the program that would start a hub belongs
    ///   to another user or others may write it; ``SharedCoreError/Code/unavailable`` if there is no such program;
    ///   otherwise the errors of the backend.
    public func open(
        as description: SessionDescription = SessionDescription(), in registry: BackendRegistry? = nil
    ) async throws(SharedCoreError) -> any SharedGroup {
        var backends = try backends(in: registry)
        #if ZMQ
            if backend.startsHub, let program = try await hubProgramPath() {
                backends.startHubs(with: backend.hubLauncher(program: program, inheriting: hubInheritance))
            }
        #endif
        return try await backends.open(backend, as: description)
    }

    /// Opens the group to read it at its present revision, without a session and without a trace. Starts no hub: if
    /// none serves, reads the files that a hub would serve.
    ///
    /// Source: contract L4.
    ///
    /// - Throws: As ``open(as:in:)``; ``SharedCoreError/Code/unavailable`` if there is no such group.
    public func openToRead(
        as description: SessionDescription = SessionDescription(), in registry: BackendRegistry? = nil
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

    /// Returns the backends for opening, including the configured one.
    private func backends(in registry: BackendRegistry?) throws(SharedCoreError) -> BackendRegistry {
        var backends = registry ?? .bundled()
        if let plugin, !backends.names.contains(plugin.name) { backends.register(PluginFactory(plugin)) }
        guard backends.names.contains(backend.backend) else {
            throw .noBackend(backend.backend, among: backends.names, at: backendPlace)
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
        /// Returns the program that starts a hub; nil if none is installed and none is needed, because a hub serves.
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

    /// Resolves the values of an environment.
    package init(
        _ values: [String: String], file: () throws(ConfigurationFailure) -> ConfigurationFile?, program: String?,
        environment: [String: String], workingDirectory: WorkingDirectory
    ) throws(ConfigurationFailure) {
        try FormerNames.refuse(in: environment)
        let file = try file()
        var read = Resolution(
            values: values, environment: environment, file: file, workingDirectory: workingDirectory)
        var own = OwnBackend(in: values)
        // A registry may have a backend that no directory has.
        if let name = own?.name, try read.hasPlugin(name) { own = nil }
        if own != nil {
            read = Resolution(
                values: values.filter { $0.key != Settings.backend.name }, environment: environment, file: file,
                workingDirectory: workingDirectory)
        }
        let resolution = try read.loadingBackend()
        try Self.check(values, among: resolution.settings, besides: own)
        _ = try resolution.overview()
        if let own {
            backend = try own.configuration(resolution, values)
        } else {
            backend = try resolution.backendConfiguration()
        }
        coordination = try resolution.coordinationOptions()
        plugin = resolution.plugin
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

    /// The variables that a hub inherits, beside `XDG_*`. Other variables could make it load or read files that the
    /// user did not choose for it.
    private static let inherited: Set = ["HOME", "PATH", "TMPDIR", "LANG"]

    /// Refuses values without a key, and empty values.
    private static func check(
        _ values: [String: String], among settings: [AnySetting], besides own: OwnBackend?
    ) throws(ConfigurationFailure) {
        for (key, text) in values.sorted(by: { $0.key < $1.key }) {
            let place = SettingOrigin.value(key).description
            guard settings.contains(where: { $0.name == key }) || own?.hasKey(key) == true else {
                throw .unknownKey(key, at: place)
            }
            guard !text.isEmpty else { throw ConfigurationFailure(at: place, "the value is empty.") }
        }
    }
}

/// A backend that is not bundled. Only the values of an application can name it: the programs of this package read the
/// same file, and would refuse the name there.
private struct OwnBackend {
    let name: String

    /// Returns nil if the values name none.
    init?(in values: [String: String]) {
        guard let name = values[Settings.backend.name], !name.isEmpty, !Settings.backend.kind.choices.contains(name)
        else {
            return nil
        }
        self.name = name
    }

    /// Returns true if a key belongs to the backend.
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
