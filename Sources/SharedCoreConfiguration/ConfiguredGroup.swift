public import BackendRegistry
@_exported public import ConfigurationResolution
public import Coordination
public import CoreAPI

/// The group that a configuration describes, as the programs of this package open it: from given values, else the environment,
/// else a file, else the defaults.
///
/// ```swift
/// let configured = try await ConfiguredGroup.read(["group": "chat"])
/// let group = try await configured.open(as: SessionDescription(role: .main))
/// try await group.withMain(options: configured.coordination, core: core) { main in … }
/// ```
///
/// `sharedcore help settings` lists the keys. Those of the host, of cores and of supervision are checked like the others, and have
/// no effect here. In an Executor that a host has started, the environment describes the host's group: give no values there, as
/// they come first.
///
/// Source: decision 37.
public struct ConfiguredGroup: Sendable {
    /// The backend, the group's name and its place, as ``BackendRegistry`` takes them.
    ///
    /// A change of ``BackendConfiguration/group`` or ``BackendConfiguration/stateDirectory`` leaves what was made of them:
    /// ``directory``, and `zmq.endpoint` in ``BackendConfiguration/settings``. Give them to ``read(_:file:program:)`` instead.
    public var backend: BackendConfiguration {
        get { resolved.backend }
        set { resolved.backend = newValue }
    }
    /// How ownership and messages are handled, from `handover.*`, `executor.budget`, `inbox.lifetime` and `calls.lifetime`.
    public var coordination: CoordinationOptions {
        get { resolved.coordination }
        set { resolved.coordination = newValue }
    }
    /// The absolute path of the group's directory, for `FileWitness(besideGroup:)`; nil for `memory`. Where the group is not in
    /// files of this machine, opening it does not make the directory.
    public var directory: String? {
        get { resolved.directory }
        set { resolved.directory = newValue }
    }

    private var resolved: ResolvedGroup

    /// Reads the configuration, and checks all of it.
    ///
    /// A value comes from `values`, else from its variable of the environment, such as `SHAREDCORE_HANDOVER_TIMEOUT`, else from the
    /// file, else it is the default. The environment is read once for each call; a program that calls `setenv` meanwhile has
    /// a race, as with `getenv`. An empty variable counts as unset. A process with more rights than its caller (`AT_SECURE`)
    /// reads neither the environment nor the user's file.
    ///
    /// - Parameters:
    ///   - values: Settings by their keys, with dots between their parts, as texts: `["handover.timeout": "2s"]`. Relative paths
    ///     start from the working directory. A backend of one's own is named here, with its keys, which begin with its name and
    ///     a dot: they are in ``BackendConfiguration/settings``.
    ///   - file: The path of the file, YAML or JSON; nil for the one that `SHAREDCORE_CONFIG` names, else
    ///     `sharedcore/config.yaml` in `$XDG_CONFIG_HOME` or `~/.config` where it is there. `/dev/null` reads none. The working
    ///     directory has no file for an application, which may be started anywhere.
    ///   - program: The path of `sharedcore`, which starts a hub; nil for the one beside this program, else along `PATH`.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an unknown key, a wrong or empty value, a file that is named and
    ///   absent, or that is no YAML; ``SharedCoreError/Code/forbidden`` for a file of another user, or that others may write. The
    ///   location is the place: `/etc/chat.yaml:3:5`, `SHAREDCORE_BACKEND` or `values["backend"]`.
    public static func read(
        _ values: [String: String] = [:], file: String? = nil, program: String? = nil
    ) async throws(SharedCoreError) -> ConfiguredGroup {
        ConfiguredGroup(
            resolved: try await ResolvedGroup.read(values, file: file, program: program) {
                search throws(ConfigurationFailure) in
                try search.read()
            })
    }

    /// Joins the group. Where `zmq.hub` is `auto`, the hub has a socket of this machine and none serves, starts one:
    /// `sharedcore hub --detach`, which outlives this process and stays in its cgroup. That program is told `group`,
    /// `stateDirectory`, `durability` and `zmq.*`, and has of the environment `HOME`, `PATH`, `XDG_*`, `TMPDIR` and `LANG`
    /// alone.
    ///
    /// - Parameters:
    ///   - description: What the participant says of itself.
    ///   - registry: The backends; nil for the bundled ones. `memory` needs one, whose memory the group is in.
    /// - Throws: ``SharedCoreError/Code/unsupported``, at the place that names it, for a backend that is not there, and for
    ///   `memory` without a registry; ``SharedCoreError/Code/forbidden`` when the program that would start a hub is
    ///   another user's or others may write it, and ``SharedCoreError/Code/unavailable`` when there is none; otherwise what
    ///   the backend throws.
    public func open(
        as description: SessionDescription = SessionDescription(), in registry: BackendRegistry? = nil
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await resolved.open(as: description, in: registry)
    }

    /// Opens the group to read it as it stands, without a session and without a trace. Starts no hub: where none serves, reads the
    /// files that such a hub would serve.
    ///
    /// Source: contract L4.
    ///
    /// - Throws: As ``open(as:in:)``; ``SharedCoreError/Code/unavailable`` where there is no such group.
    public func openToRead(
        as description: SessionDescription = SessionDescription(), in registry: BackendRegistry? = nil
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await resolved.openToRead(as: description, in: registry)
    }
}
