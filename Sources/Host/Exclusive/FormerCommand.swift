internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The commands that ran in a group before. One that has outlived its sharedcore has to be gone before the next one begins.
///
/// The kernel ends a command with the sharedcore that ran it, but says first that the one is gone and then kills the other,
/// and it does not kill a program that has the rights of another user or has undone the tie. A command whose sharedcore
/// lives, though it may be stopped, is left to that: what a frozen Main runs is not killed (contract C6). Its note stays, so that it
/// is looked at again when that sharedcore is gone.
enum FormerCommand {
    /// Selects the notes, one for each command that is not known to be gone.
    private static let notes: KeyPrefix = ".sharedcore/exclusive/"
    /// How many notes are kept of commands that cannot be seen from here, as in a container beside this one.
    private static let unseenCapacity = 16
    /// How long a killed process may take to be gone.
    private static let patience = Duration.seconds(5)

    /// Notes which process is the command now.
    ///
    /// - Parameter ended: The notes that are not needed any more, as ``end(in:)`` has found them.
    static func note(_ pid: Int32, in store: any SharedStore, forgetting ended: [Key]) async throws {
        var transaction = Transaction()
        for key in ended { transaction.delete(key) }
        // A child whose end nobody has waited for yet is always to be seen.
        if let process = ProcessIdentity(of: pid) {
            let own = ProcessIdentity.current
            let words = [
                "\(own.bootID)", "\(ProcessIdentity.currentNamespace)", "\(own.pid)", "\(own.startTime)",
                "\(process.pid)",
                "\(process.startTime)",
            ]
            transaction.put(
                try Key(notes.path + store.session.id.rawValue.hexadecimal), Array(words.joined(separator: " ").utf8))
        }
        _ = try await store.commit(transaction)
    }

    /// Kills those that still run on this machine without their sharedcore, and waits until they are gone.
    ///
    /// - Returns: The notes of commands that are gone.
    static func end(in store: any SharedStore) async throws -> [Key] {
        var ended: [Key] = []
        var unseen: [Entry] = []
        for entry in try await store.list(notes).entries {
            switch try await endCommand(of: entry) {
            case .gone: ended.append(entry.key)
            case .unseen: unseen.append(entry)
            case .owned: break
            }
        }
        let oldest = unseen.sorted { $0.revision < $1.revision }.dropLast(unseenCapacity)
        return ended + oldest.map(\.key)
    }

    private enum Outcome {
        case gone
        /// Its sharedcore lives.
        case owned
        /// No such process can be seen from here, and it may run all the same.
        case unseen
    }

    private static func endCommand(of entry: Entry) async throws -> Outcome {
        let words = String(decoding: entry.value, as: UTF8.self).split(separator: " ")
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        let bootID = SystemClock().bootID
        // Of another run of the machine, or of another version.
        guard words.first.map(String.init) == bootID.description, numbers.count == 5 else { return .gone }
        let namespace = numbers[0]
        // Where the namespace is not known, numbers mean nothing.
        guard namespace != 0, ProcessIdentity.currentNamespace != 0 else { return .unseen }
        let isHere = namespace == ProcessIdentity.currentNamespace
        let absent = isHere ? Outcome.gone : .unseen
        let number = Int32(clamping: numbers[3])
        guard let command = ProcessIdentity.seen(pid: number, startTime: numbers[4], in: namespace) else {
            return absent
        }
        let handle: ProcessHandle
        do throws(ProcessUnreachable) {
            handle = try ProcessHandle(command)
        } catch {
            // Only what is known to have ended is gone.
            guard case .dead = error else { return .unseen }
            return absent
        }
        guard !handle.hasEnded else { return absent }
        let ownerNumber = Int32(clamping: numbers[1])
        // A process that was killed lets go of its session before it is quite gone.
        if let owner = ProcessIdentity.seen(pid: ownerNumber, startTime: numbers[2], in: namespace), !owner.isExiting {
            return .owned
        }
        // A record can name any process: one of another user is not this command, or has to be ended by that user.
        if let user = handle.user, user != OwnProcess.user {
            throw CommandFailure(
                .unavailable, "the former command (pid \(command.pid)) still runs as user \(user): end it first")
        }
        // Nor does it say whose command that is. The process itself does, unless it has changed its environment.
        let mark = LaunchMark(of: command.pid, as: .command, in: namespace)
        guard handle.user == OwnProcess.user, mark?.parent.pid == ownerNumber, mark?.parent.startTime == numbers[2],
            mark?.pid == number
        else {
            guard await hasEnded(handle) else {
                throw CommandFailure(
                    .unavailable,
                    "the former command (pid \(command.pid)) still runs and does not say whose command it is: end it "
                        + "first")
            }
            return .gone
        }
        do throws(SystemCallError) {
            try handle.signal(.kill)
        } catch {
            throw CommandFailure(
                .unavailable, "the former command (pid \(command.pid)) still runs and cannot be killed: \(error.text)")
        }
        guard await hasEnded(handle) else {
            throw CommandFailure(
                .unavailable, "the former command (pid \(command.pid)) was killed and is still there")
        }
        return .gone
    }

    /// Waits for the end of a process, for ``patience`` at most.
    private static func hasEnded(_ process: ProcessHandle) async -> Bool {
        await SerialThread(name: "former").run { Poll.wait(for: [process.descriptor], timeout: patience)[0] }
    }
}
