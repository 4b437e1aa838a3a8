internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput

/// The command that ran last in a group. One that has outlived its sharedcore has to be gone before the next one begins.
///
/// The kernel ends a command with the sharedcore that ran it, but says first that the one is gone and then kills the other,
/// and it does not kill a program that has the rights of another user or has undone the tie. A command whose sharedcore
/// lives, though it may be stopped, is left to that: nobody kills what a frozen Main runs (contract C6).
enum FormerCommand {
    private static let key: Key = ".sharedcore/exclusive"
    /// How long a killed process may take to be gone.
    private static let patience = Duration.seconds(5)

    /// Notes which process is the command now.
    static func note(_ pid: Int32, in store: any SharedStore) async throws {
        // A child whose end nobody has waited for yet is always to be seen.
        guard let process = ProcessIdentity(of: pid) else { return }
        let own = ProcessIdentity.current
        let words = [
            "\(own.bootID)", "\(ProcessIdentity.currentNamespace)", "\(own.pid)", "\(own.startTime)", "\(process.pid)",
            "\(process.startTime)",
        ]
        _ = try await store.put(key, Array(words.joined(separator: " ").utf8))
    }

    /// Kills the one that was noted last, if it still runs on this machine without its sharedcore, and waits until it is
    /// gone.
    static func end(in store: any SharedStore) async throws {
        guard let entry = try await store.get(key) else { return }
        let words = String(decoding: entry.value, as: UTF8.self).split(separator: " ")
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        let bootID = SystemClock().bootID
        // Where the namespace is not known, numbers mean nothing.
        guard words.first.map(String.init) == bootID.description, numbers.count == 5, numbers[0] != 0,
            numbers[0] == ProcessIdentity.currentNamespace
        else { return }
        let owner = ProcessIdentity(bootID: bootID, pid: Int32(clamping: numbers[1]), startTime: numbers[2])
        let command = ProcessIdentity(bootID: bootID, pid: Int32(clamping: numbers[3]), startTime: numbers[4])
        // Whoever was killed lets go of its session before it is quite gone.
        guard owner.isExiting, let handle = try? ProcessHandle(command), !handle.hasEnded else { return }
        // A record can name any process: one of another user is not this command, or has to be ended by that user.
        if let user = handle.user, user != getuid() {
            throw CommandFailure(
                .unavailable, "the former command (pid \(command.pid)) still runs as user \(user): end it first")
        }
        // Nor does it say whose command that is. The process itself does, unless it has changed its environment.
        let mark = LaunchMark(of: command.pid, as: .command)
        guard handle.user == getuid(), mark?.parent == owner, mark?.pid == command.pid else {
            guard await hasEnded(handle) else {
                throw CommandFailure(
                    .unavailable,
                    "the former command (pid \(command.pid)) still runs and does not say whose command it is: end it "
                        + "first")
            }
            return
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
    }

    /// Waits for the end of a process, for ``patience`` at most.
    private static func hasEnded(_ process: ProcessHandle) async -> Bool {
        await SerialThread(name: "former").run { Poll.wait(for: [process.descriptor], timeout: patience)[0] }
    }
}
