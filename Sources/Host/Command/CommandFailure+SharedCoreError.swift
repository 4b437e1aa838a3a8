internal import CoreAPI
internal import ProgramOutput

extension CommandFailure {
    /// What an error of an open group means for the command that met it.
    init(_ error: SharedCoreError) {
        self.init(ExitStatus(error.code), error.sentence)
    }

    /// What it means that a group could not be opened: the place that named the group comes first.
    static func opening(
        _ error: SharedCoreError, with resolution: Resolution
    ) throws(CommandFailure) -> CommandFailure {
        let failure = CommandFailure(error)
        let setting =
            switch try resolution.value(Settings.backend) {
            case "zmq": Settings.zmqEndpoint
            case "etcd": Settings.etcdEndpoints
            default: Settings.directory
            }
        let found = try resolution.find(setting.erased)
        let place = found.map { "\($0.origin): \(setting.name) is “\($0.text)”" } ?? "\(setting.name) is by default"
        // A path that is no path is the configuration's fault, not that of the command's arguments.
        let status = failure.status == .usage ? .configuration : failure.status
        let group = try resolution.value(Settings.group)
        return CommandFailure(
            status, "\(place): the group “\(group)” cannot be opened there: " + (failure.message ?? ""))
    }
}
