internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import FileNotifyBackend
internal import Platform
internal import ProgramOutput

/// The command line of `sharedcore-executor`. Settings arrive resolved, so that the program needs no configuration;
/// ``help`` lists them.
///
/// Standard output is one JSON line, that of ``ExecutorReport``; errors go to standard error. Exit status: 0 `message`,
/// `tooLarge` or `nothing`; 1 `refused`, `timeout` or `fenced`; 64 wrong usage; 69 the group cannot be used now, or its
/// session has ended; 74 the line could not be written or was not confirmed, and the message is given back, or the
/// message was changed meanwhile; 78 its directory cannot be used.
struct ExecutorArguments {
    var directory = ""
    var name = "sharedcore-executor"
    var durability = Durability.process
    var request: ExecutorRequest
    var parent: Int32?
    var isHeld = false

    /// Reads arguments byte by byte, which must be text.
    init(bytes arguments: [[UInt8]]) throws(ExecutorFailure) {
        var texts: [String] = []
        for argument in arguments {
            do throws(ProgramText.NotText) {
                texts.append(try ProgramText.text(argument))
            } catch {
                throw Self.usage("the argument \(error)")
            }
        }
        try self.init(texts)
    }

    init(_ arguments: [String]) throws(ExecutorFailure) {
        var values: [String: String] = [:]
        var (insists, isConfirmed) = (false, false)
        var command: [String] = []
        var rest = arguments[...]
        while let option = rest.popFirst() {
            if option == "--own" {
                insists = true
            } else if option == "--held" {
                isHeld = true
            } else if option == "--confirmed" {
                isConfirmed = true
            } else if Self.options.contains(option) {
                guard let value = rest.popFirst() else { throw Self.usage("\(option) needs a value") }
                if option == "--core-command" { command.append(value) } else { values[option] = value }
            } else {
                let name = option.split(separator: "=", maxSplits: 1).first.map(String.init) ?? option
                let remedy = Self.formerOptions[name].map { "; give \($0) in its place" } ?? ""
                throw Self.usage("“\(option)” is not an option" + remedy)
            }
        }
        let reader = ValueReader(values: values)
        directory = try reader.text("--directory")
        guard directory.isAbsolutePath else { throw Self.usage("--directory takes an absolute path") }
        guard let callID = CallID(try reader.text("--call-id")) else { throw Self.usage("--call-id is empty") }
        request = ExecutorRequest(
            callID: callID, timeout: try reader.milliseconds("--timeout-ms"), insists: insists,
            maildir: command.isEmpty ? try reader.text("--maildir") : reader.values["--maildir"] ?? "")
        if !command.isEmpty {
            let timeout = try reader.milliseconds("--core-start-timeout-ms", default: .seconds(30))
            request.command = CoreCommand(command, startTimeout: timeout)
        }
        request.isConfirmed = isConfirmed
        name = reader.values["--name"] ?? name
        durability = try reader.choice("--durability", among: [Durability.process, .disk]) ?? durability
        request.startDelay = try reader.milliseconds("--start-ms", default: request.startDelay)
        request.witness = FileWitness(besideGroup: directory)
        request.memory = try reader.byteCount("--memory-bytes", default: request.memory)
        try reader.fill(&request.options)
        if let text = reader.values["--parent"] {
            guard let number = Int32(text), number > 0 else { throw Self.usage("--parent takes a process number") }
            parent = number
        }
    }

    private static let options: Set<String> = [
        "--directory", "--call-id", "--timeout-ms", "--maildir", "--name", "--durability", "--start-ms",
        "--memory-bytes", "--budget-ms", "--core-command", "--core-start-timeout-ms",
        "--inbox-lifetime-ms", "--calls-lifetime-ms", "--baton-lifetime-ms", "--handover-timeout-ms",
        "--handover-maximum-timeout-ms", "--on-handover-timeout", "--wake-bound-ms",
        "--parent",
    ]

    /// The names that options had before the first release, with those of now.
    private static let formerOptions = [
        "--deadline-ms": "--timeout-ms", "--handover-deadline-ms": "--handover-timeout-ms",
        "--handover-hard-maximum-ms": "--handover-maximum-timeout-ms", "--on-deadline": "--on-handover-timeout",
    ]

    static func usage(_ problem: String) -> ExecutorFailure {
        ExecutorFailure(
            .usage,
            "\(problem); usage: sharedcore-executor --directory D --call-id ID --timeout-ms N --maildir D [options]; "
                + "--help lists them")
    }

    /// The text for `--help`.
    static let help = """
        usage: sharedcore-executor --directory D --call-id ID --timeout-ms N --maildir D [options]

        One Executor of a group in files, which “sharedcore serve” starts for a push.

          --directory D                    the absolute path of the group's directory
          --call-id ID                     what the push announced
          --timeout-ms N                   how long to wait for the message
          --maildir D                      the Maildir of the core
          --core-command WORD              the program that is the core in its place, then each of its arguments
          --core-start-timeout-ms N        how long that may take to connect (30000)
          --own                            run the core here, also when the inbox has the message
          --name TEXT                      the participant's name for people (sharedcore-executor)
          --durability process|disk        what a commit survives (process)
          --start-ms N                     how long the core takes to connect (0)
          --memory-bytes N|none            how much memory the process may have for itself (24 MiB)
          --budget-ms N                    how long the core may run (30000)
          --inbox-lifetime-ms N            how long messages are kept (300000)
          --calls-lifetime-ms N            how long ended calls are kept (86400000)
          --baton-lifetime-ms N            how long a call waits for the core that goes on with it (10000)
          --handover-timeout-ms N          how long a Main waits (500)
          --handover-maximum-timeout-ms N  how much a critical section can make of it (5000)
          --on-handover-timeout kill|fence what becomes of a holder then (kill)
          --wake-bound-ms N                how long a Main that rests has to resume (2000)
          --parent PID                     the process that started it, with which the kernel ends it
          --held                           do nothing until a byte comes on standard input
          --confirmed                      acknowledge the message only when a byte, or one more, comes there: without
                                           it the message is given back, with status 74
        """
}

/// Reads the values of options.
struct ValueReader {
    let values: [String: String]

    /// Returns a required text.
    func text(_ option: String) throws(ExecutorFailure) -> String {
        guard let value = values[option] else { throw ExecutorArguments.usage("\(option) is missing") }
        return value
    }

    /// Returns a required whole number of milliseconds.
    func milliseconds(_ option: String) throws(ExecutorFailure) -> Duration {
        let text = try text(option)
        // At most a hundred years, so that the sum of two durations in nanoseconds fits into 64 bits.
        guard let count = UInt64(text), count <= 3_153_600_000_000 else {
            throw ExecutorArguments.usage("\(option) takes milliseconds, not “\(text)”")
        }
        return .milliseconds(count)
    }

    /// Returns a whole number of milliseconds.
    func milliseconds(_ option: String, default fallback: Duration) throws(ExecutorFailure) -> Duration {
        values[option] == nil ? fallback : try milliseconds(option)
    }

    /// Returns a number of bytes, or nil for `none`.
    func byteCount(_ option: String, default fallback: UInt64?) throws(ExecutorFailure) -> UInt64? {
        guard let text = values[option] else { return fallback }
        if text == "none" { return nil }
        guard let count = UInt64(text) else { throw ExecutorArguments.usage("\(option) takes bytes, not “\(text)”") }
        return count
    }

    /// Returns one of a set of words; nil if the option is not given.
    func choice<Value: RawRepresentable<String>>(
        _ option: String, among choices: [Value]
    ) throws(ExecutorFailure) -> Value? {
        guard let text = values[option] else { return nil }
        guard let choice = choices.first(where: { $0.rawValue == text }) else {
            let words = choices.map(\.rawValue).joined(separator: " or ")
            throw ExecutorArguments.usage("\(option) takes \(words), not “\(text)”")
        }
        return choice
    }

    /// Sets the given options of the handling of ownership and messages.
    func fill(_ options: inout CoordinationOptions) throws(ExecutorFailure) {
        options.executorBudget = try milliseconds("--budget-ms", default: options.executorBudget)
        options.inboxLifetime = try milliseconds("--inbox-lifetime-ms", default: options.inboxLifetime)
        options.callsLifetime = try milliseconds("--calls-lifetime-ms", default: options.callsLifetime)
        options.batonLifetime = try milliseconds("--baton-lifetime-ms", default: options.batonLifetime)
        options.handoverTimeout = try milliseconds("--handover-timeout-ms", default: options.handoverTimeout)
        options.handoverMaximumTimeout = try milliseconds(
            "--handover-maximum-timeout-ms", default: options.handoverMaximumTimeout)
        options.wakeBound = try milliseconds("--wake-bound-ms", default: options.wakeBound)
        options.onHandoverTimeout =
            try choice("--on-handover-timeout", among: HandoverTimeoutAction.allCases) ?? options.onHandoverTimeout
    }
}
