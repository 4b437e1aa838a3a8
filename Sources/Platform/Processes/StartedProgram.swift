internal import CLinux
internal import Glibc

/// A program that this process has started and whose end it waits for.
package struct StartedProgram: Sendable {
    /// Its process number, which means this program until its end was waited for.
    package let pid: Int32

    /// Starts a program. It gets no descriptor but its streams, and no signal is blocked in it, also where the calling thread
    /// blocks some.
    ///
    /// - Parameters:
    ///   - path: The program's absolute path.
    ///   - arguments: What it is given, without its own name.
    ///   - variables: What its environment has more or otherwise than this process's.
    ///   - streams: Its descriptors, from 0 on.
    ///   - directory: Where it works; nil for the working directory of this process.
    ///   - ownSession: Whether it leaves this process's terminal and group, as a daemon does.
    ///   - omitted: Variables of this process's environment that are none of its business.
    package init(
        _ path: String, _ arguments: [String], variables: [String: String] = [:], streams: [OpenFile],
        directory: String? = "/", ownSession: Bool = false, omitting omitted: Set<String> = []
    ) throws(SystemCallError) {
        var duplicates: [OpenFile] = []
        for stream in streams {
            // Beyond the numbers that they get there, so that none is overwritten before its turn.
            let number = try SystemCall.negated("fcntl(F_DUPFD_CLOEXEC)", at: stream.path) {
                clinux_duplicate(stream.descriptor, Int32(streams.count))
            }
            duplicates.append(OpenFile(owning: number, path: stream.path))
        }
        let words = ([path] + arguments).map { strdup($0) }
        let pairs = Self.environment(with: variables, without: omitted).map(\.duplicatedCString)
        defer { for word in words + pairs { free(word) } }
        pid = try SystemCall.negated("posix_spawn", at: path) {
            clinux_start_program(
                path, words + [nil], pairs + [nil], duplicates.map(\.descriptor), Int32(duplicates.count), directory,
                ownSession)
        }
        withExtendedLifetime(duplicates) {}
    }

    /// Ends it at once. Only before its end was waited for, when its number still means it.
    package func kill() {
        Glibc.kill(pid, SIGKILL)
    }

    /// Ends at once all that is left of its process group, where it was started in a session of its own. Only after its
    /// end and before that was waited for, while the number still means it.
    package func endGroup() {
        Glibc.kill(-pid, SIGKILL)
    }

    /// Waits for its end and leaves its number to it, so that signals to it can be kept out while it is taken back
    /// by ``waitForEnd()``. Blocks.
    package func waitUntilEnded() {
        while clinux_wait_for_end(pid) == -EINTR {}
    }

    /// Waits for its end, once. Blocks.
    ///
    /// - Returns: The exit status, or 128 and the number of the signal that ended it.
    package func waitForEnd() throws(SystemCallError) -> Int32 {
        try SystemCall.negated("waitpid", at: "process \(pid)") { clinux_wait_for_child(pid) }
    }

    /// Waits for its end, once, and tells a status from a signal. Blocks.
    package func reap() throws(SystemCallError) -> ProgramEnd {
        var signal: Int32 = 0
        let status = try SystemCall.negated("waitpid", at: "process \(pid)") { clinux_reap(pid, &signal) }
        return signal == 0 ? .exited(status) : .killed(by: signal)
    }

    /// Returns this process's environment, byte by byte, with some variables set otherwise.
    static func environment(with variables: [String: String], without omitted: Set<String> = []) -> [[UInt8]] {
        let others = OwnProcess.environment.filter { entry in
            // A name that is no text is none of those.
            guard let name = String(validating: entry.name, as: UTF8.self) else { return true }
            return variables[name] == nil && !omitted.contains(name)
        }
        return others.map { $0.name + [UInt8(ascii: "=")] + $0.value }
            + variables.sorted { $0.key < $1.key }.map { Array("\($0.key)=\($0.value)".utf8) }
    }
}

/// How a program ended.
package enum ProgramEnd: Hashable, Sendable {
    case exited(Int32)
    case killed(by: Int32)
}
