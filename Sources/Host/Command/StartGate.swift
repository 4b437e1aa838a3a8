internal import CommandCore
internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The first steps of a process that this program starts. The process first asks the kernel to kill it when its parent
/// ends, and waits if the parent holds it. Then it executes a command or continues as this program. The kernel sends
/// the signal at the end of the thread that started the process: the parent's main thread, which lives as long as the
/// parent.
enum StartGate {
    /// The role of the process after the gate.
    enum Way: String, CaseIterable {
        /// Executes another program, which gets a ``LaunchMark`` of that role.
        case command, executor
        /// Continues as this program and runs one of its commands.
        case own
    }

    /// The first argument of such a process. The parent's process id, the kind, whether it is held, the signals, and
    /// the words follow. Not for users.
    static let name = "start-gate"

    private static let free = "free"

    /// Returns the arguments of this program for a process that begins with the gate.
    ///
    /// - Parameters:
    ///   - leave: The descriptor on which it waits for a byte (``OwnProcess/waitForLeave(on:)``); nil if it does not
    ///     wait.
    ///   - signals: The signals that the other program ignores and blocks; nil leaves them as they are.
    static func arguments(
        for words: [String], as way: Way, of parent: Int32 = ProcessIdentity.current.pid, leave: Int32? = nil,
        signals: OwnProcess.Signals? = nil
    ) -> [String] {
        let numbers = signals.map { "\($0.ignored),\($0.blocked)" } ?? "-"
        return [name, String(parent), way.rawValue, leave.map(String.init) ?? free, numbers] + words
    }

    /// Runs the first steps. Returns only if the process continues as this program, with the arguments that remain.
    static func pass(_ arguments: inout [[UInt8]]) {
        FailPoint.hit("gate.begin")
        let words = arguments.prefix(5).map { String(decoding: $0, as: UTF8.self) }
        guard arguments.count > 5, let parent = Int32(words[1]), let way = Way(rawValue: words[2]) else {
            StandardError.write("sharedcore: “\(name)” is for sharedcore itself")
            OwnProcess.end(ExclusiveStatus.refusal)
        }
        // If the parent has been killed already, it owns nothing, so this process must not run.
        guard OwnProcess.endsWith(parent: parent) else { OwnProcess.end(ExclusiveStatus.refusal) }
        if let leave = Int32(words[3]) {
            guard OwnProcess.waitForLeave(on: leave) else { OwnProcess.end(ExclusiveStatus.refusal) }
            // The command must not inherit the descriptor. Standard input stays as it is.
            if leave > StandardStream.error.rawValue { _ = OpenFile(owning: leave, path: "descriptor \(leave)") }
        }
        arguments.removeFirst(5)
        if way == .own { return }
        guard let mark = LaunchMark(startedBy: parent) else { OwnProcess.end(ExclusiveStatus.refusal) }
        OwnProcess.set((way == .command ? LaunchMark.Role.command : .executor).variable, to: mark.text)
        let numbers = words[4].split(separator: ",").compactMap { UInt64($0) }
        if numbers.count == 2 { OwnProcess.set(OwnProcess.Signals(ignored: numbers[0], blocked: numbers[1])) }
        let error = OwnProcess.become(arguments[0], Array(arguments.dropFirst()))
        StandardError.write(
            "sharedcore: “\(ProgramText.escaped(arguments[0]))” cannot be executed: \(error.text)")
        OwnProcess.end(error.isAbsent ? ExclusiveStatus.notFound : ExclusiveStatus.notExecutable)
    }
}
