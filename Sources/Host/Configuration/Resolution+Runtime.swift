internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import ProgramOutput

extension Resolution {
    /// The absolute path of the directory for the group's sockets: one of its own in the directory that the system gives the
    /// user for such things, else the group's directory.
    func runtimeDirectory() throws(CommandFailure) -> String {
        RuntimeDirectory.path(
            ofGroup: try groupDirectory(), runtimeDirectory: UserDirectory.runtime.path(in: environment))
    }

    /// The socket at which the host takes pushes; nil for none.
    func pushSocket() throws(CommandFailure) -> String? {
        if try optional(Settings.pushSocket) == "none" { return nil }
        if let path = try absolutePath(Settings.pushSocket) { return path }
        return try runtimeDirectory() + "/push"
    }

    /// Where the host tells its figures; nil for nowhere.
    func metricsPlace() throws(CommandFailure) -> MetricsPlace? {
        guard let given = try optional(Settings.metricsListen) else {
            return .path(try runtimeDirectory() + "/metrics")
        }
        guard case .path(let path) = given else { return given }
        return .path(try absolutePath(path, of: Settings.metricsListen.erased))
    }

    /// Makes the directory for the group's sockets, which this user alone may enter.
    func makeRuntimeDirectory() throws(CommandFailure) {
        let path = try runtimeDirectory()
        do throws(SharedCoreError) {
            _ = try PrivateDirectory.open(path)
        } catch {
            throw CommandFailure(error)
        }
    }
}
