internal import CLinux
internal import CoreAPI
internal import Glibc

/// A program that this process has started on its own behalf, with its streams and in its process group, and waits for.
package final class AttendedProgram: Sendable {
    /// Its process number.
    package let pid: Int32
    private let status = Promise<Int32>()

    private init(pid: Int32) {
        self.pid = pid
    }

    /// Starts a program.
    ///
    /// A thread starts it and lives as long as the program: the kernel signals a child at the end of the thread that
    /// created it (``OwnProcess/endsWith(parent:)``), not of the process.
    ///
    /// - Parameters:
    ///   - path: The program's path.
    ///   - arguments: Its arguments as bytes, without its own name.
    ///   - variables: The variables of its environment that differ from this process's.
    ///   - kept: A further file that it inherits, under the same number.
    package static func start(
        _ path: String, _ arguments: [[UInt8]], variables: [String: String] = [:], keeping kept: OpenFile
    ) async throws(SystemCallError) -> AttendedProgram {
        try await OwnedThread.start("command") { () throws(SystemCallError) in
            let started = try StartedProgram(inPlaceOfThis: path, arguments, variables: variables, keeping: kept)
            return AttendedProgram(pid: started.pid)
        } then: { program in
            program.attend()
        }
    }

    /// Waits for the end without reaping, so that it is reaped under the lock: until then the number belongs to it.
    private func attend() {
        while clinux_wait_for_end(pid) == -EINTR {}
        status.fulfil(clinux_wait_for_child(pid))
    }

    /// Sends it a signal.
    ///
    /// - Returns: Whether it had not ended yet.
    @discardableResult
    package func signal(_ signal: ProcessSignal) -> Bool {
        status.whileOpen { kill(pid, signal.rawValue) }
    }

    /// Waits for its end.
    ///
    /// - Returns: The exit status, or 128 and the number of the signal that ended it.
    package func end() async -> Int32 {
        await status.value()
    }
}
