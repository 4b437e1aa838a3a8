internal import CoreAPI

extension CommandFailure {
    /// What an error of an open group means for the command that met it.
    init(_ error: SharedCoreError) {
        let sentence = error.message + (error.cause.map { " (\($0))" } ?? "") + " [\(error.location)]"
        self.init(Self.status(of: error.code), sentence)
    }

    private static func status(of code: SharedCoreError.Code) -> ExitStatus {
        switch code {
        case .guardFailed: .no
        case .invalidArgument, .limitExceeded: .usage
        case .forbidden, .incompatible, .unsupported: .configuration
        default: .unavailable
        }
    }

    /// What it means that a group could not be opened: the place that named the group comes first.
    static func opening(
        _ error: SharedCoreError, with resolution: Resolution
    ) throws(CommandFailure) -> CommandFailure {
        let failure = CommandFailure(error)
        let found = try resolution.find(Settings.directory.erased)
        let place = found.map { "\($0.origin): dir is “\($0.text)”" } ?? "dir is by default"
        // A path that is no path is the configuration's fault, not that of the command's arguments.
        let status = failure.status == .usage ? .configuration : failure.status
        let group = try resolution.value(Settings.group)
        return CommandFailure(
            status, "\(place): the group “\(group)” cannot be opened there: " + (failure.message ?? ""))
    }
}
