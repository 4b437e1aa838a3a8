internal import CLinux
internal import CoreAPI
internal import Glibc

/// A program that this process has started in its own place, with its streams and in its process group, and waits for.
package final class AttendedProgram: Sendable {
    /// Its process number.
    package let pid: Int32
    private let status = Promise<Int32>()

    private init(pid: Int32) {
        self.pid = pid
    }

    /// Starts a program.
    ///
    /// It is started by a thread that lives for as long as the program does: the kernel tells a child of the end of the
    /// thread that made it (``OwnProcess/endsWith(parent:)``), not of the process.
    ///
    /// - Parameters:
    ///   - path: The program's path.
    ///   - arguments: Its arguments, byte by byte and without its own name.
    ///   - variables: The variables of its environment that differ from this process's.
    ///   - kept: A further file that it has open, under the same number.
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

    /// Waits for the end without reaping, so that the reaping is done under the lock: until then the number means it.
    private func attend() {
        while clinux_wait_for_end(pid) == -EINTR {}
        status.fulfil(clinux_wait_for_child(pid))
    }

    /// Sends it a signal.
    ///
    /// - Returns: Whether it had not ended.
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
