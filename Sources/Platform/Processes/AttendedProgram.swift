internal import CoreAPI

/// A program that this process has started with its own streams and in its own process group, and waits for.
package final class AttendedProgram: Sendable {
    /// The process number of the program.
    package var pid: Int32 { program.pid }
    private let program: StartedProgram
    private let status = Promise<Int32>()

    private init(_ program: StartedProgram) {
        self.program = program
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
            AttendedProgram(
                try StartedProgram(inPlaceOfThis: path, arguments, variables: variables, keeping: kept))
        } then: { program in
            program.attend()
        }
    }

    private func attend() {
        // A signal that this process handles ends a wait early.
        while !program.handle.hasEnded { _ = Poll.wait(for: [program.handle.descriptor], timeout: nil) }
        status.fulfil((try? program.waitForEnd()) ?? StartedProgram.unknownStatus)
    }

    /// Sends it a signal.
    ///
    /// - Returns: Whether it existed: it had not been reaped yet.
    @discardableResult
    package func signal(_ signal: ProcessSignal) -> Bool {
        (try? program.handle.signal(signal)) ?? true
    }

    /// Waits for its end.
    ///
    /// - Returns: The exit status, or 128 and the number of the signal that ended it.
    package func end() async -> Int32 {
        await status.value()
    }
}
