internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import PluginBackend
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Wormholes

/// The failure of a command: the exit status for the shell, and a message for people.
struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
    let status: ExitStatus
    /// One line without the program's name; nil if the output contains the reason already.
    let message: String?

    init(_ status: ExitStatus, _ message: String? = nil) {
        self.status = status
        self.message = message
    }

    var description: String { message ?? "it ends with status \(status.rawValue)" }

    /// Creates the failure for an unusable configuration. A mistake of the command line has a status of its own.
    init(_ failure: ConfigurationFailure) {
        let isOption = failure.place.map { GlobalOptions.valued.contains($0) } ?? false
        self.init(isOption ? .usage : .configuration, failure.description)
    }

    static func configuration(_ message: String) -> CommandFailure {
        CommandFailure(.configuration, message)
    }

    static func usage(_ message: String) -> CommandFailure {
        CommandFailure(.usage, message)
    }
}

extension CommandFailure {
    /// Creates the failure for an error of a participant.
    init(_ error: CoordinationError) {
        let message = error.message.ending(withCode: error.code)
        switch error.code {
        case .refused:
            let remedy =
                " “sharedcore status” shows it. Another Main takes over with --take-over; with --insist as well, "
                + "it waits for no call either."
            self.init(.no, (error.message + remedy).ending(withCode: error.code))
        case .timeout where error.cause != nil: self.init(.unavailable, message)
        case .fenced where error.cause?.code == .sessionEnded: self.init(.unavailable, message)
        case .timeout, .fenced, .superseded: self.init(.no, message)
        default: self.init(ExecutorFailure(error))
        }
    }

    /// Creates the failure for an Executor that could not do its job.
    init(_ failure: ExecutorFailure) {
        self.init(failure.status, failure.message)
    }
}

extension CommandFailure {
    /// Creates the failure for an error of an open group.
    init(_ error: SharedCoreError) {
        self.init(ExitStatus(error.code), error.sentence)
    }

    /// Returns the failure for a group that could not be opened. Its message begins with the place that named the
    /// group.
    static func opening(
        _ error: SharedCoreError, with resolution: Resolution
    ) throws(ConfigurationFailure) -> CommandFailure {
        if error.code == .cancelled { return CommandFailure(.no, "interrupted") }
        if let factory = resolution.factory {
            // Only the backend knows which of its settings determines the group.
            let message = error.sentence(
                behind: "the group “\(try resolution.value(Settings.group))” of \(factory.name): ")
            return CommandFailure(ExitStatus(error.code), message)
        }
        let setting =
            switch try resolution.value(Settings.backend) {
            case "zmq": Settings.zmqEndpoint
            case "etcd": Settings.etcdEndpoints
            default: Settings.stateDirectory
            }
        let found = resolution.find(setting.erased)
        let place =
            found.map { "\($0.origin): \(setting.name) is “\($0.text)”" }
            ?? "\(setting.name) is not set, so it has its default"
        let group = try resolution.value(Settings.group)
        let lead = "\(place): the group “\(group)” cannot be opened there: "
        // The place and the group's name are the path of the group's directory, so do not repeat it.
        let isDirectory = found.map { error.location == "\($0.text)/\(group)" } ?? false
        let message =
            isDirectory
            ? (lead + error.message + (error.cause.map { " (\($0))" } ?? "")).ending(withCode: error.code)
            : error.sentence(behind: lead)
        // An invalid path is an error in its source: the configuration or an option.
        guard error.code == .invalidArgument || error.code == .limitExceeded else {
            return CommandFailure(ExitStatus(error.code), message)
        }
        if case .flag = found?.origin { return .usage(message) }
        return .configuration(message)
    }
}

extension CommandFailure {
    /// Creates the failure for an error of a mailbox.
    init(_ error: WormholeError) {
        if let cause = error.cause {
            self.init(cause)
        } else {
            self.init(.no, error.message.ending(withCode: error.code))
        }
    }
}
