package import Coordination
package import CoreAPI
package import Lifecycle

/// The table of all settings, and the only place that contains their keys.
package enum Settings {
    package static let backend = Setting(
        "backend", .backend, default: .text("file"),
        "The backend that stores the group and connects its processes.")
    package static let group = Setting(
        "group", .groupName, default: .text("default"),
        "The name of the group. Groups never see each other.")
    package static let stateDirectory = Setting(
        "stateDirectory", .path,
        default: .derived("$XDG_STATE_HOME/sharedcore, or ~/.local/state/sharedcore where that is unset"),
        "The directory that contains a directory for each group, with the group's name.")
    package static let pluginDirectory = Setting(
        "pluginDirectory", .path, default: .text("/usr/lib/sharedcore/plugins"),
        "The directory of the backends that are plugins: libsharedcore-NAME.so for “backend: NAME”.")
    package static let durability = Setting(
        "durability", .oneOf([Durability.process, .disk]), default: .text("process"),
        "What a commit survives: the death of any process, or the loss of power.")
    package static let zmqEndpoint = Setting(
        "zmq.endpoint", .text,
        default: .derived("a socket in $XDG_RUNTIME_DIR/sharedcore, or in the group's directory where that is unset"),
        "Where the hub is: ipc:// and an absolute path, or tcp:// with a host and a port.")
    package static let zmqHub = Setting(
        "zmq.hub", .choice(["auto", "none"]), default: .text("auto"),
        "Whether the first client of a socket starts a hub.")
    package static let zmqStorage = Setting(
        "zmq.storage", .choice(["files", "memory"]), default: .text("files"),
        "Where the hub keeps the group: in files of the group's directory, or in its memory.")
    package static let zmqLease = Setting(
        "zmq.lease", .positiveDuration, default: .text("6s"),
        "How long a remote participant may be silent before its session ends.")
    package static let zmqClientMemory = Setting(
        "zmq.clientMemory", .clientMemory, default: .text("54MiB"),
        "How much of a hub's memory one client over tcp may use for its requests and its unread answers.")
    package static let zmqSecretKey = Setting(
        "zmq.secretKey", .keyFile, default: .none,
        "The file with the secret key of this hub or client, for tcp. “config keys” makes one.")
    package static let zmqHubKey = Setting(
        "zmq.hubKey", .text, default: .none,
        "The public key of the hub, by which clients know it.")
    package static let zmqClientKeys = Setting(
        "zmq.clientKeys", .keyFile, default: .none,
        "The file with the public keys of the clients that the hub lets in, one a line.")
    package static let etcdEndpoints = Setting(
        "etcd.endpoints", .text, default: .text("127.0.0.1:2379"),
        "The members of the etcd cluster, host:port with commas between them.")
    package static let etcdPrefix = Setting(
        "etcd.prefix", .text, default: .text("/sharedcore"),
        "The prefix of all keys that are written to etcd.")
    package static let etcdLease = Setting(
        "etcd.lease", .positiveDuration, default: .text("6s"),
        "How long a participant may be silent before its session on etcd ends, in whole seconds.")
    package static let etcdTLS = Setting(
        "etcd.tls.mode", .choice(["auto", "on", "off"]), default: .text("auto"),
        "Whether connections to etcd are secured; auto does when one of the files is given.")
    package static let etcdAuthorities = Setting(
        "etcd.tls.ca", .path, default: .none,
        "The file, PEM, with the certificates that verify etcd's members; the system's unless it is given.")
    package static let etcdCertificate = Setting(
        "etcd.tls.certificate", .path, default: .none,
        "The file, PEM, with the certificate that this client shows to etcd.")
    package static let etcdKey = Setting(
        "etcd.tls.key", .path, default: .none,
        "The file, PEM, with the key of that certificate.")
    package static let handoverTimeout = Setting(
        "handover.timeout", .positiveDuration, default: .text("500ms"),
        "How long an Executor may take to release the core when Main asks, unless the core is stopping then.")
    package static let handoverMaximumTimeout = Setting(
        "handover.maximumTimeout", .positiveDuration, default: .text("5s"),
        "The most for handover.timeout and a critical section together.")
    package static let handoverOnTimeout = Setting(
        "handover.onTimeout", .oneOf(HandoverTimeoutAction.allCases), default: .text("kill"),
        "What Main does with an Executor that does not release the core in time.")
    package static let wakeBound = Setting(
        "wake.bound", .wakeBound, default: .text("2s"),
        "How long a Main that rests has to resume when it is woken, before its holder gives its core up; 1 s to 30 s.")
    package static let executorBudget = Setting(
        "executor.budget", .positiveDuration, default: .text("30s"),
        "How long an Executor may run; the host kills it then.")
    package static let executorWarning = Setting(
        "executor.warning", .positiveDuration, default: .derived("five sixths of executor.budget"),
        "When the host warns an Executor with SIGTERM that its budget is nearly used up.")
    package static let executorMemory = Setting(
        "executor.memory", .memory, default: .text("24MiB"),
        "How much memory of its own an Executor may have; the host kills one that has more, and a core reads no more of a message."
    )
    package static let executorLimit = Setting(
        "executor.limit", .count, default: .text("16"),
        "How many Executors the host runs at once. Further pushes wait.")
    package static let executorAttempts = Setting(
        "executor.attempts", .count, default: .text("5"),
        "How often a push is tried if its Executor fails or is killed, before it is given up.")
    package static let executorRetryDelay = Setting(
        "executor.retryDelay", .positiveDuration, default: .text("1s"),
        "How long a failed push waits before the next try; twice as long each time, up to a minute.")
    package static let executorCommand = Setting(
        "executor.command", .command, default: .derived("this program's Executor"),
        "What the host starts for a push; {id} is its call-id, and SHAREDCORE_CALL_ID in the environment.")
    package static let pushMaildir = Setting(
        "push.maildir", .path, default: .none,
        "A Maildir in which each new message is a push, for the host.")
    package static let pushSocket = Setting(
        "push.socket", .pathOrNone, default: .derived("“push” in the group's runtime directory"),
        "The socket at which the host takes pushes; “none” for no socket.")
    package static let pushCapacity = Setting(
        "push.capacity", .count, default: .text("10000"),
        "The most pushes that the group keeps, waiting or being served, but one for each 8 KiB of executor.memory at most; what "
            + "comes beyond is refused.")
    package static let pushRoutes = Setting(
        "push.routes", .pushRoutes, default: .none,
        "Which process handles pushes of a type, such as “call=main”: a Main takes them, or an Executor is started; those of other types "
            + "are the Executors'.")
    package static let metricsListen = Setting(
        "metrics.listen", .metricsPlace, default: .derived("“metrics” in the group's runtime directory"),
        "Where the host serves its metrics to Prometheus: the path of a socket, for this user alone, a port of 127.0.0.1, for "
            + "every process of the machine, or “none”.")
    package static let inboxLifetime = Setting(
        "inbox.lifetime", .positiveDuration, default: .text("5m"),
        "How long a received message is kept for participants that ask for it.")
    package static let callsLifetime = Setting(
        "calls.lifetime", .positiveDuration, default: .text("24h"),
        "How long a call that has ended is kept to be shown.")
    package static let batonLifetime = Setting(
        "baton.lifetime", .positiveDuration, default: .text("10s"),
        "How long a call waits at a hand-over for the core that continues it: 1 second to 1 minute.")
    package static let coreMaildir = Setting(
        "core.maildir", .path, default: .derived("Maildir in the group's directory"),
        "The Maildir that the core fetches messages from. A core creates it if it does not exist.")
    package static let coreStartDelay = Setting(
        "core.startDelay", .duration, default: .text("0s"),
        "How long the core takes to connect; for trials with a slow server.")

    package static let coreCommand = Setting(
        "core.command", .commandOrNone, default: .text("none"),
        "The program that is the core, in place of the one with a Maildir: it speaks JSON in lines on its standard input and "
            + "output.")
    package static let coreStartTimeout = Setting(
        "core.startTimeout", .positiveDuration, default: .text("30s"),
        "How long the program of core.command may take to connect.")

    package static let mainCommand = Setting(
        "main.command", .command, default: .none,
        "The command of the Main that a keeper supervises for the host; none without it.")
    package static let mainWatchdog = Setting(
        "main.watchdog", .positiveDuration, default: .none,
        "How long Main may send its keeper no sign of life before it is killed.")
    package static let mainRestartLimit = Setting(
        "main.restartLimit", .count, default: .text("10"),
        "How many times Main is restarted in any main.restartWindow; further restarts wait.")
    package static let mainRestartWindow = Setting(
        "main.restartWindow", .positiveDuration, default: .text("10m"),
        "The window that main.restartLimit counts in.")
    package static let mainWakeBudget = Setting(
        "main.wakeBudget", .positiveDuration, default: .text("10s"),
        "How long Main may run after data on a kept socket has woken it.")
    package static let alerts = Setting(
        "alerts", .choice(["desktop", "log", "none"]), default: .text("desktop"),
        "How the host shows the user an Executor's message: on the desktop or else in the log, there only, or not.")

    /// Returns the level of a service in a state of the application.
    package static func level(of service: Service, in application: ApplicationState) -> Setting<ServiceLevel> {
        let row = ServiceLevelRow.standard(service)
        let level = application == .foreground ? row.foreground : row.background
        return Setting(
            "serviceLevels.\(service.rawValue).\(application.rawValue)", .oneOf(service.possibleLevels),
            default: .text(level.rawValue), "How much of this service there is in the \(application.rawValue).")
    }

    /// The states in which services have levels.
    package static let levelledStates = [ApplicationState.foreground, .background]

    private static let serviceLevels = Service.allCases.flatMap { service in
        levelledStates.map { level(of: service, in: $0).erased }
    }

    /// Every setting, in the order of the documentation.
    package static let all = single + serviceLevels

    private static let single: [AnySetting] = [
        backend.erased, group.erased, stateDirectory.erased, pluginDirectory.erased, durability.erased,
        zmqEndpoint.erased, zmqHub.erased,
        zmqStorage.erased, zmqLease.erased, zmqClientMemory.erased, zmqSecretKey.erased, zmqHubKey.erased,
        zmqClientKeys.erased,
        etcdEndpoints.erased, etcdPrefix.erased, etcdLease.erased, etcdTLS.erased, etcdAuthorities.erased,
        etcdCertificate.erased, etcdKey.erased,
        handoverTimeout.erased, handoverMaximumTimeout.erased, handoverOnTimeout.erased, wakeBound.erased,
        executorBudget.erased,
        executorWarning.erased, executorMemory.erased, executorLimit.erased, executorAttempts.erased,
        executorRetryDelay.erased, executorCommand.erased, inboxLifetime.erased, callsLifetime.erased,
        batonLifetime.erased,
        coreMaildir.erased, coreStartDelay.erased, coreCommand.erased, coreStartTimeout.erased,
        pushMaildir.erased, pushSocket.erased, pushCapacity.erased, pushRoutes.erased, metricsListen.erased,
        mainCommand.erased,
        mainWatchdog.erased,
        mainRestartLimit.erased, mainRestartWindow.erased, mainWakeBudget.erased, alerts.erased,
    ]
}
