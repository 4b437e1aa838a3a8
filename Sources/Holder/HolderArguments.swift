internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import KeptSockets
internal import Platform
internal import ProgramOutput

/// The command line of `sharedcore-holder`. It reads no configuration; ``help`` lists the options.
///
/// Standard output is one JSON line, `{"event":"serving","pid":N}`, when Mains may rest; errors go to standard error.
/// Exit status: 0 SIGTERM or SIGINT ended it, and the Main that rested here has resumed; 1 a second signal came before
/// that; 64 wrong usage; 69 the group cannot be used; 74 the line could not be written; 78 its directory cannot be
/// used.
struct HolderArguments {
    var directory = ""
    var name = "sharedcore-holder"
    var durability = Durability.process
    var options = CoordinationOptions()
    /// The directory of the keeper of the group's Main; nil if no keeper is told of wakes.
    var keeper: KeeperPlace?

    /// Reads arguments byte by byte, which must be text.
    init(bytes arguments: [[UInt8]]) throws(HolderFailure) {
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

    init(_ arguments: [String]) throws(HolderFailure) {
        var keeperDirectory: String?
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard Self.options.contains(option) else { throw Self.usage("“\(option)” is not an option") }
            guard let value = rest.popFirst() else { throw Self.usage("\(option) needs a value") }
            switch option {
            case "--directory": directory = value
            case "--name": name = value
            case "--keeper": keeperDirectory = value
            case "--durability":
                guard let choice = Durability(rawValue: value), [.process, .disk].contains(choice) else {
                    throw Self.usage("--durability takes process or disk, not “\(value)”")
                }
                durability = choice
            default:
                guard let count = UInt64(value), (1_000...30_000).contains(count) else {
                    throw Self.usage("--wake-bound-ms takes 1000 to 30000, not “\(value)”")
                }
                options.wakeBound = .milliseconds(count)
            }
        }
        guard directory.isAbsolutePath else { throw Self.usage("--directory takes an absolute path") }
        if keeperDirectory == "none" { return }
        let place =
            keeperDirectory
            ?? RuntimeDirectory.path(ofGroup: directory, runtimeDirectory: OwnProcess.text("XDG_RUNTIME_DIR"))
        guard place.isAbsolutePath else { throw Self.usage("--keeper takes an absolute path or “none”") }
        keeper = KeeperPlace(directory: place)
    }

    private static let options: Set<String> = [
        "--directory", "--name", "--durability", "--wake-bound-ms", "--keeper",
    ]

    static func usage(_ problem: String) -> HolderFailure {
        HolderFailure(
            .usage, "\(problem); usage: sharedcore-holder --directory D [options]; --help lists them")
    }

    /// The text for `--help`.
    static let help = """
        usage: sharedcore-holder --directory D [options]

        Owns for a Main of a group in files that rests, where no host runs. A service manager starts it; SIGTERM ends it.

          --directory D                    the absolute path of the group's directory
          --name TEXT                      its name for people (sharedcore-holder)
          --durability process|disk        what a commit survives (process)
          --wake-bound-ms N                how long a Main that rests has to resume (2000)
          --keeper D|none                  the directory of the keeper of Main, which is told of each wake; the
                                           group's runtime directory unless it is given
        """
}

/// The reason why the program cannot do its job.
struct HolderFailure: Error, Hashable {
    let status: ExitStatus
    /// One line for people.
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
