internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput

/// What a command of `exclusive` goes through on its way to being itself: this program, which ties its own life to that of
/// its parent and then becomes the command. No other way ties the two without running code in a fork.
enum ExclusiveGate {
    /// The first argument that leads here. Started by `exclusive`, not by people.
    static let name = "exclusive-gate"

    /// What starts a command, after ``name``.
    static func arguments(for command: [String]) -> [String] {
        [name, String(ProcessIdentity.current.pid)] + command
    }

    /// Becomes the command. Does not return.
    static func pass(_ arguments: [String]) -> Never {
        guard let parent = arguments.first.flatMap({ Int32($0) }), let command = arguments.dropFirst().first else {
            StandardError.write("sharedcore: “\(name)” is started by “sharedcore exclusive”")
            _exit(ExclusiveStatus.refusal)
        }
        // A parent that was killed already owns nothing any more, so there is nothing to run under.
        guard OwnProcess.endsWith(parent: parent) else { _exit(ExclusiveStatus.refusal) }
        let error = OwnProcess.become(command, Array(arguments.dropFirst(2)))
        StandardError.write("sharedcore: “\(command)” cannot be executed: \(error.text)")
        _exit(error.number == ENOENT ? ExclusiveStatus.notFound : ExclusiveStatus.notExecutable)
    }
}
