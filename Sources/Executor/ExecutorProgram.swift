internal import CoreAPI
internal import ExecutorRun
internal import FileNotifyBackend
internal import Platform
internal import ProgramOutput

/// The slim program that is started for a push: one Executor of a group in files.
///
/// It contains one backend and one core and reads no configuration, because it must fit into the memory of an Executor.
@main
enum ExecutorProgram {
    /// `main` is not asynchronous, so that the signals are blocked before there is another thread. The main thread then
    /// waits for signals.
    static func main() {
        OwnProcess.takeDefaultSignals()
        ProgramStart.requireResources(for: "sharedcore-executor", threadCount: 4)
        TerminationSignals.block()
        OwnProcess.shareHeap()
        try? BusErrorHandler.install()
        let arguments = arguments()
        // Call this on the main thread, which runs as long as the program. If the parent has ended already, no process
        // needs the result.
        if let parent = arguments.parent, !OwnProcess.endsWith(parent: parent) {
            OwnProcess.end(ExitStatus.unavailable.rawValue)
        }
        if arguments.isHeld, !OwnProcess.waitForLeave() { OwnProcess.end(ExitStatus.unavailable.rawValue) }
        // Detached, because the main thread is not free to run it.
        let work = Task.detached(executorPreference: ExecutorRun.executor) {
            OwnProcess.exit(await status(of: arguments).rawValue)
        }
        TerminationSignals.wait()
        work.cancel()
        // A second signal ends the program at once, without an orderly end.
        TerminationSignals.wait()
        OwnProcess.end(ExitStatus.no.rawValue)
    }

    private static func arguments() -> ExecutorArguments {
        if OwnProcess.arguments.contains(Array("--help".utf8)) {
            do throws(SystemCallError) {
                try StandardStream.output.write(text: ExecutorArguments.help + "\n")
            } catch {
                OwnProcess.exit(ExitStatus.output.rawValue)
            }
            OwnProcess.exit(ExitStatus.success.rawValue)
        }
        do throws(ExecutorFailure) {
            return try ExecutorArguments(bytes: OwnProcess.arguments)
        } catch {
            StandardError.write("sharedcore-executor: \(error.message)")
            OwnProcess.exit(error.status.rawValue)
        }
    }

    /// Runs the Executor, and returns the exit status.
    private static func status(of arguments: ExecutorArguments) async -> ExitStatus {
        do {
            return try await run(arguments)
        } catch let failure as ExecutorFailure {
            StandardError.write("sharedcore-executor: \(failure.message)")
            return failure.status
        } catch let error as SharedCoreError {
            StandardError.write("sharedcore-executor: \(error.sentence)")
            return ExitStatus(error.code)
        } catch {
            StandardError.write("sharedcore-executor: \(error)")
            return .unavailable
        }
    }

    private static func run(_ arguments: ExecutorArguments) async throws -> ExitStatus {
        let group = try await FileGroup.open(
            directory: arguments.directory, as: SessionDescription(role: .executor, name: arguments.name),
            options: FileGroupOptions(durability: arguments.durability))
        return try await group.closing {
            let thread = SerialThread(name: "output")
            let report = try await ExecutorRun.run(arguments.request, in: group) { report in
                var line = report.json.line
                line.append("\n")
                // A pipe with a slow reader blocks.
                do throws(SystemCallError) {
                    try await thread.run { [line] () throws(SystemCallError) in
                        try StandardStream.output.write(text: line)
                        if let reason = report.reason { StandardError.write("sharedcore-executor: \(reason)") }
                    }
                } catch {
                    throw ExecutorFailure(.output, "\(error.location): \(error.text)")
                }
            }
            return report.status
        }
    }
}
