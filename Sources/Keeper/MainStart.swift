internal import CoreAPI
internal import Glibc
internal import KeptSockets
internal import Platform
internal import ProgramOutput

/// The moment between a keeper and its Main: a process of this program takes Main's lock and becomes Main's program.
///
/// So a Main has its lock before it does anything, whatever becomes of the keeper meanwhile, and no second one begins
/// while the first is there: the lock stays with the process and ends with it.
enum MainStart {
    /// The first argument of a process that does this.
    static let word = "start-main"
    /// What such a process ends with when another Main has the lock.
    static let taken: Int32 = 75
    /// What it ends with when the command cannot be run, as a shell does.
    private static let notFound: Int32 = 127

    static func arguments(lock: String, command: [String]) -> [String] {
        [word, lock] + command
    }

    static func run(_ arguments: [String]) -> Never {
        guard arguments.count >= 2 else { exit(ExitStatus.usage.rawValue) }
        do throws(SystemCallError) {
            let lock = try OpenFile(path: arguments[0], .create)
            guard try lock.tryLockForProgram() else { exit(taken) }
            let own = ProcessIdentity.current
            try lock.truncate(to: 0)
            try lock.write(Array("\(own.pid) \(own.startTime) \(own.bootID)\n".utf8), at: 0)
            let error = OwnProcess.become(Array(arguments[1].utf8), arguments.dropFirst(2).map { Array($0.utf8) })
            withExtendedLifetime(lock) {}
            StandardError.write("sharedcore-keeper: \(error)")
            exit(notFound)
        } catch {
            StandardError.write("sharedcore-keeper: \(error)")
            exit(ExitStatus.unavailable.rawValue)
        }
    }
}
