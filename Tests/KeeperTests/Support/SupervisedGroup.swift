internal import CoreAPITesting
internal import Glibc
internal import KeptSockets
internal import Platform
internal import TestSupport

/// A group with a host that has a Main supervised, all as processes.
final class SupervisedGroup {
    let stage: KeeperStage
    let server: LineServer
    private(set) var host: ChildProcess?
    private let root: TemporaryDirectory
    private var configuration = "/dev/null"
    private let isMember: Bool
    private let hasRegistrar: Bool

    /// - Parameters:
    ///   - isMember: True if the Main takes part in the group, so that it can rest.
    ///   - hasRegistrar: True if the cores of Main and of the Executors are contacts at ``registrarPath``.
    init(isMember: Bool = false, hasRegistrar: Bool = false) throws {
        self.isMember = isMember
        self.hasRegistrar = hasRegistrar
        root = try TemporaryDirectory()
        server = try LineServer()
        let runtime = root.path(of: "r")
        stage = try KeeperStage(
            in: root,
            place: KeeperPlace(
                directory: RuntimeDirectory.path(ofGroup: root.path(of: "g/default"), runtimeDirectory: runtime)))
    }

    deinit {
        host?.signal(.terminate)
        waitOnThread(atMost: .seconds(5)) { host?.ended != nil }
        host?.signal(.kill)
    }

    var directory: String { root.path }
    var groupDirectory: String { root.path(of: "g/default") }
    var registrarPath: String { root.path(of: "c") }
    /// The socket at which the host serves its metrics.
    var metrics: String { root.path(of: "m") }

    /// The host's figures at its metrics socket.
    func figures() async throws -> String {
        try await ToldFigures.at(metrics)
    }

    private var environment: [String: String] {
        get throws {
            var main = [try ChildProcess.built("sharedcore-test-main"), String(server.port), stage.notebook]
            if isMember { main.append(groupDirectory) }
            var executor: [String: String] = [:]
            if hasRegistrar {
                main.append(registrarPath)
                executor["SHAREDCORE_EXECUTOR_COMMAND"] = [
                    try ChildProcess.built("sharedcore-test-peer"), "rest", groupDirectory, "push", "executor",
                    registrarPath, "30000", "60000",
                ].joined(separator: " ")
            }
            return [
                "XDG_RUNTIME_DIR": root.path(of: "r"), "SHAREDCORE_STATE_DIRECTORY": root.path(of: "g"),
                "SHAREDCORE_GROUP": "default", "SHAREDCORE_CONFIG": configuration,
                "SHAREDCORE_MAIN_COMMAND": main.joined(separator: " "), "SHAREDCORE_MAIN_RESTART_LIMIT": "10000",
                "SHAREDCORE_ALERTS": "none", "SHAREDCORE_METRICS_LISTEN": metrics, "LC_ALL": "C.UTF-8",
            ].merging(executor) { $1 }
        }
    }

    /// The lines of its processes on their standard error.
    var errors: [String] { KeeperStage.lines(root.path(of: "errors")) }

    /// Writes the group's configuration file.
    func configure(_ text: String) throws {
        configuration = root.path(of: "sharedcore.yaml")
        let file = try OpenFile(path: configuration, .create)
        try file.truncate(to: 0)
        try file.write(Array(text.utf8), at: 0)
    }

    /// Starts a host.
    @discardableResult
    func serve(_ variables: [String: String] = [:]) throws -> ChildProcess {
        let host = try run(["serve"], variables)
        self.host = host
        return host
    }

    func run(_ arguments: [String], _ variables: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            try ChildProcess.built("sharedcore"), arguments,
            environment: try environment.merging(variables) { $1 },
            errors: root.path(of: "errors"))
    }
}
