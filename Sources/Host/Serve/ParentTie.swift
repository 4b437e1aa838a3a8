internal import Glibc
internal import Platform
internal import ProgramOutput

/// What ties the life of a run of this program to that of the host which started it. The tie is that of the main thread,
/// which lives as long as the program, so it is made before anything else.
enum ParentTie {
    /// The first argument that leads here; the number of the parent and the command follow. Not for people.
    static let name = "ends-with"

    static func arguments(for command: [String], of parent: Int32) -> [String] {
        [name, String(parent)] + command
    }

    static func fasten(_ arguments: inout [String]) {
        guard arguments.count > 2, let parent = Int32(arguments[1]) else {
            StandardError.write("sharedcore: “\(name)” is started by “sharedcore serve”")
            _exit(ExitStatus.usage.rawValue)
        }
        // A host that was killed already has nobody to tell.
        guard OwnProcess.endsWith(parent: parent) else { _exit(ExitStatus.unavailable.rawValue) }
        arguments.removeFirst(2)
    }
}
