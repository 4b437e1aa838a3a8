package import CoreAPI
internal import Platform

/// The commands of `exclusive` and the programs of cores that ran in a group before. A command that has outlived its
/// participant must end before the next one begins.
///
/// The kernel ends a command with the sharedcore that ran it. But other processes see the end of that sharedcore before
/// the kernel has killed the command. And the kernel does not kill a program that has another user's rights or has
/// reset its parent-death signal. While the command's sharedcore lives, even if it is stopped, the command is not
/// killed: the command of a frozen Main continues (contract C6). The note about such a command stays, so that the
/// command is checked again when its sharedcore has ended. The program of a core from an ended epoch is killed in any
/// case.
package enum FormerCommand {
    /// Selects the notes, one for each command that is not known to have ended.
    private static let notes: KeyPrefix = ".sharedcore/exclusive/"
    /// The maximum number of kept notes about commands that cannot be seen from here, for example in another container.
    private static let unseenCapacity = 16
    /// The time limit for the end of a killed process.
    private static let timeout = Duration.seconds(5)

    /// Notes which process is the command of `exclusive` now.
    ///
    /// - Parameter ended: The notes that are not needed any more, as ``end(in:under:)`` has found them.
    package static func note(
        _ pid: Int32, in store: any SharedStore, forgetting ended: [Key]
    ) async throws(SharedCoreError) {
        try await note(pid, at: key(of: store.session.id.rawValue.hexadecimal), [], in: store, forgetting: ended)
    }

    /// Notes the process that is the program of a core.
    ///
    /// - Parameter pid: Nil before it is started: then only the mark identifies it, and the processes that it starts.
    /// - Returns: The note's key, for ``forget(_:in:)``.
    static func note(
        _ pid: Int32?, of epoch: Revision, _ mark: LaunchMark, in store: any SharedStore, forgetting ended: [Key]
    ) async throws(SharedCoreError) -> Key {
        // A participant may have given up a former core that has not ended, so each core has a note of its own.
        let key = try key(of: store.session.id.rawValue.hexadecimal + "-" + epoch.rawValue.hexadecimal)
        try await note(pid, at: key, [epoch.rawValue, mark.number], in: store, forgetting: ended)
        return key
    }

    /// Deletes the note of a program that has ended, with all processes that it has started.
    static func forget(_ key: Key, in store: any SharedStore) async throws(SharedCoreError) {
        var transaction = Transaction()
        transaction.delete(key)
        _ = try await store.commit(transaction)
    }

    private static func key(of name: String) throws(SharedCoreError) -> Key { try Key(notes.path + name) }

    private static func note(
        _ pid: Int32?, at key: Key, _ further: [UInt64], in store: any SharedStore, forgetting ended: [Key]
    ) async throws(SharedCoreError) {
        var transaction = Transaction()
        for key in ended { transaction.delete(key) }
        // The child has not been reaped, so its identity can be read.
        let process = pid.flatMap { ProcessIdentity(of: $0) }
        if pid == nil || process != nil {
            let own = ProcessIdentity.current
            let words = [
                "\(own.bootID)", "\(ProcessIdentity.currentNamespace)", "\(own.pid)", "\(own.startTime)",
                "\(process?.pid ?? 0)", "\(process?.startTime ?? 0)",
            ]
            transaction.put(key, Array((words + further.map { "\($0)" }).joined(separator: " ").utf8))
        }
        _ = try await store.commit(transaction)
    }

    /// Kills the commands that run on this machine without their participant, and the programs of cores from ended
    /// epochs, and waits until they have ended.
    ///
    /// - Parameter epoch: The present epoch.
    /// - Returns: The notes of commands that have ended.
    /// - Throws: ``CommandCoreError/Code/leftover`` if a command still runs and may not be killed; the errors of the
    ///   store.
    package static func end(in store: any SharedStore, under epoch: Revision) async throws -> [Key] {
        var ended: [Key] = []
        var unseen: [Entry] = []
        for entry in try await store.list(notes).entries {
            switch try await endCommand(of: entry, under: epoch) {
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
        /// The `sharedcore exclusive` that started the command lives.
        case owned
        /// The process is not visible in this container or namespace, but may run.
        case unseen
    }

    private static func endCommand(of entry: Entry, under epoch: Revision) async throws(CommandCoreError) -> Outcome {
        let words = String(decoding: entry.value, as: UTF8.self).split(separator: " ")
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        let bootID = SystemClock().bootID
        // The note is from another boot of the machine, or another version.
        guard words.first.map(String.init) == bootID.description, numbers.count == 5 || numbers.count == 7 else {
            return .gone
        }
        let namespace = numbers[0]
        // Without a known namespace, process ids have no meaning.
        guard namespace != 0, ProcessIdentity.currentNamespace != 0 else { return .unseen }
        let owner = ProcessIdentity(bootID: bootID, pid: Int32(clamping: numbers[1]), startTime: numbers[2])
        let isCore = numbers.count == 7
        let mark = LaunchMark(parent: owner, number: isCore ? numbers[6] : numbers[3])
        let isOver = isCore && numbers[5] < epoch.rawValue
        // The note of a core that was about to start has no process number.
        let outcome: Outcome =
            if numbers[3] == 0 {
                !isOver && lives(owner, in: namespace) ? .owned : absent(in: namespace)
            } else {
                try await endCommand(
                    Int32(clamping: numbers[3]), startedAt: numbers[4], in: namespace, mark,
                    as: isCore ? .core : .command, isOver: isOver)
            }
        // The processes that the program has started carry its mark, unless they have changed their environment.
        if isCore, outcome != .owned { try await endMarked(mark, in: namespace) }
        return outcome
    }

    private static func endCommand(
        _ number: Int32, startedAt startTime: UInt64, in namespace: UInt64, _ mark: LaunchMark,
        as role: LaunchMark.Role,
        isOver: Bool
    ) async throws(CommandCoreError) -> Outcome {
        let absent = absent(in: namespace)
        guard let command = ProcessIdentity.seen(pid: number, startTime: startTime, in: namespace) else {
            return absent
        }
        let handle: ProcessHandle
        do throws(ProcessUnreachable) {
            handle = try ProcessHandle(command)
        } catch {
            // Only a process that is known to have ended counts as ended.
            guard case .dead = error else { return .unseen }
            return absent
        }
        guard !handle.hasEnded else { return absent }
        if !isOver, lives(mark.parent, in: namespace) { return .owned }
        // A note can name any process. A process of another user is not this command, or only that user can end it.
        if let user = handle.user, !handle.isOfOwnUser {
            throw stillRuns(command, "still runs as user \(user): end it first")
        }
        // The note alone does not prove that the process is this command. The mark in the process's environment proves
        // it, unless the process has changed its environment.
        guard handle.isOfOwnUser, LaunchMark(of: command.pid, as: role, in: namespace) == mark else {
            guard await hasEnded(handle) else {
                throw stillRuns(command, "still runs and cannot be identified: end it first")
            }
            return .gone
        }
        do throws(SystemCallError) {
            try handle.signal(.kill)
        } catch {
            throw stillRuns(command, "still runs and cannot be killed: \(error.text)")
        }
        guard await hasEnded(handle) else { throw stillRuns(command, "was killed and is still there") }
        return .gone
    }

    /// Returns the outcome for a process that cannot be seen.
    private static func absent(in namespace: UInt64) -> Outcome {
        namespace == ProcessIdentity.currentNamespace ? .gone : .unseen
    }

    private static func lives(_ owner: ProcessIdentity, in namespace: UInt64) -> Bool {
        let seen = ProcessIdentity.seen(pid: owner.pid, startTime: owner.startTime, in: namespace)
        // The session may have ended before the killed process has ended completely, so check the process.
        return seen.map { !$0.isExiting } ?? false
    }

    private static func stillRuns(_ command: ProcessIdentity, _ rest: String) -> CommandCoreError {
        CommandCoreError(.leftover, "the former command (pid \(command.pid)) \(rest)")
    }

    /// Ends the processes with a mark.
    private static func endMarked(_ mark: LaunchMark, in namespace: UInt64) async throws(CommandCoreError) {
        let ending = await SerialThread(name: "former").run {
            MarkedProcesses.end(timeout: timeout) {
                MarkedProcesses.kill(as: .core, in: namespace) { _, found in found == mark }
            }
        }
        guard ending.isComplete else {
            throw CommandCoreError(
                .leftover,
                "what the program of a former core has started still runs, after \(ending.count) of its processes were killed: "
                    + "end it first")
        }
    }

    /// Waits for the end of a process, for ``timeout`` at most.
    private static func hasEnded(_ process: ProcessHandle) async -> Bool {
        await SerialThread(name: "former").run { Poll.wait(for: [process.descriptor], timeout: timeout)[0] }
    }
}
