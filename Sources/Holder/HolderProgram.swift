internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import ProgramOutput

/// The small program that owns for a Main that rests, in a group of files without a host.
///
/// It contains one backend, reads no configuration and links no Foundation, because it runs as long as Mains may rest.
///
/// Source: contract C26, decision 44.
@main
enum HolderProgram {
    /// `main` is not asynchronous, so that the signals are blocked before there is another thread. The main thread then
    /// waits for signals.
    static func main() {
        OwnProcess.takeDefaultSignals()
        ProgramStart.requireResources(for: "sharedcore-holder", threadCount: 4)
        TerminationSignals.block()
        OwnProcess.shareHeap()
        try? BusErrorHandler.install()
        let arguments = arguments()
        // Detached, because the main thread is not free to run it.
        let work = Task.detached { OwnProcess.exit(await status(of: arguments).rawValue) }
        TerminationSignals.wait()
        work.cancel()
        // A second signal ends the program at once, without an orderly end.
        TerminationSignals.wait()
        OwnProcess.end(ExitStatus.no.rawValue)
    }

    private static func arguments() -> HolderArguments {
        do throws(HolderFailure) {
            if OwnProcess.arguments.contains(Array("--help".utf8)) {
                try write(HolderArguments.help)
                OwnProcess.exit(ExitStatus.success.rawValue)
            }
            return try HolderArguments(bytes: OwnProcess.arguments)
        } catch {
            StandardError.write("sharedcore-holder: \(error.message)")
            OwnProcess.exit(error.status.rawValue)
        }
    }

    private static func write(_ text: String) throws(HolderFailure) {
        do throws(SystemCallError) {
            try StandardStream.output.write(text: text + "\n")
        } catch {
            throw HolderFailure(.output, "\(error.location): \(error.text)")
        }
    }

    /// Runs the holder until a signal comes, and returns the exit status.
    private static func status(of arguments: HolderArguments) async -> ExitStatus {
        do {
            try await run(arguments)
            return .success
        } catch let failure as HolderFailure {
            StandardError.write("sharedcore-holder: \(failure.message)")
            return failure.status
        } catch let error as SharedCoreError {
            // A signal came before the holder had started, so nothing has to be released.
            if error.code == .cancelled, Task.isCancelled { return .success }
            StandardError.write("sharedcore-holder: \(error.sentence)")
            return ExitStatus(error.code)
        } catch let error as CoordinationError {
            StandardError.write(
                "sharedcore-holder: \(error.cause?.sentence ?? error.message.ending(withCode: error.code))")
            return error.cause.map { ExitStatus($0.code) } ?? .unavailable
        } catch {
            StandardError.write("sharedcore-holder: \(error)")
            return .unavailable
        }
    }

    private static func run(_ arguments: HolderArguments) async throws {
        let group = try await FileGroup.open(
            directory: arguments.directory, as: SessionDescription(role: .holder, name: arguments.name),
            options: FileGroupOptions(durability: arguments.durability))
        try await group.closing {
            let keeper = arguments.keeper.map { KeeperClient(place: $0) }
            let holder = try HolderParticipant(of: group, options: arguments.options) { main in
                guard let keeper else { return }
                // The call blocks, so it has its own thread. Its failure is ignored: a Main without a keeper has no
                // watchdog.
                _ = await SerialThread(name: "keeper").run { keeper.mainWasWoken(main) }
            }
            try await holder.start()
            do {
                try write(JSONObject.serving.line)
                // Release the pages of the program's code, of which little is needed from now on.
                ProcessMemory.releaseCode()
                try await hold(holder, in: group)
            } catch {
                await end(holder)
                throw error
            }
            await end(holder)
        }
    }

    /// Wakes the Main that rests, and returns when it has resumed, also in a cancelled task.
    private static func end(_ holder: HolderParticipant) async {
        await Task { await holder.stop() }.value
    }

    /// Returns when the task is cancelled.
    private static func hold(_ holder: HolderParticipant, in group: any SharedStore) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                do throws(SharedCoreError) {
                    try await KeepAliveRecords(group).followDueTime(by: SystemClock()) {
                        await holder.setKeepAlive(at: $0)
                    }
                } catch {
                    guard !Task.isCancelled else { return }
                    StandardError.write(
                        "sharedcore-holder: keep-alives are not seen any more, so no Main is woken for them: \(error.sentence)"
                    )
                }
            }
            defer { tasks.cancelAll() }
            try await holder.waitUntilEnded()
        }
    }
}

extension SessionRole {
    /// The role of this program.
    fileprivate static let holder = SessionRole(rawValue: "holder")
}

extension JSONObject {
    /// The line that the program prints when Mains may rest.
    fileprivate static var serving: JSONObject {
        ["event": "serving", "pid": .integer(Int64(ProcessIdentity.current.pid))]
    }
}
