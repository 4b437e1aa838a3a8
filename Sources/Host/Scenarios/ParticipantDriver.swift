internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput

/// The time that each push waits for its message, and a scenario for an expected event: only a machine that is far too
/// busy, or a fault, makes anything wait that long.
let scenarioTimeout = Duration.seconds(60)

/// Starts the Mains and Executors of a scenario: as processes, or simulated in this process where the backend lives in
/// one.
protocol ParticipantDriver: Sendable {
    /// The scenario's own handle. It takes no part in the ownership.
    var group: any SharedGroup { get }

    /// Starts an Executor, which waits for the message of a call-id and prints an ``ExecutorLine``.
    ///
    /// - Parameter failPoint: The fail point at which it kills itself, in a build that has fail points.
    func startExecutor(for callID: CallID, as name: String, failPoint: String?) async throws -> any TestProcess

    /// Starts a Main, which prints a line when it owns.
    func startMain(as name: String) async throws -> any TestProcess
}

/// A participant of a scenario, which can be frozen and killed.
protocol TestProcess: Sendable {
    /// Returns whether an ownership is its own, and it has not ended.
    func isHolder(_ owner: GroupOwner) -> Bool
    /// True after the process has ended.
    var hasEnded: Bool { get }
    /// Waits for the next line that it prints; nil at its end.
    func nextLine() async throws -> String?
    /// Kills it as SIGKILL does. Nothing happens to one that has ended.
    func kill()
    /// Stops it as SIGSTOP does, and returns when it has stopped or ended.
    func freeze() async
    /// Lets it continue.
    func thaw()
    /// Asks it to end.
    func terminate()
    /// Waits for its end, also when the task is cancelled.
    func end() async -> ProgramEnd
}

extension TestProcess {
    /// Asks it to end, kills it when it has not ended in time, and waits for its end, also when the task is cancelled.
    @discardableResult
    func stop(timeout: Duration = .seconds(1)) async -> ProgramEnd {
        let timer = Task {
            try await Task.sleep(for: timeout)
            kill()
        }
        defer { timer.cancel() }
        terminate()
        return await end()
    }
}

/// The line that an Executor of the demo printed.
struct ExecutorLine: Codable, Hashable, Sendable {
    let event: String
    let callID: String
    let text: String?
    let from: String?
    let source: String?
    let coreStarts: Int
    let elapsedMs: UInt64

    /// Reads a printed line.
    init(printed line: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
    }
}

/// The result of the start of an Executor.
struct PushResult: Sendable {
    /// The line that it printed.
    var line: ExecutorLine?
    /// The last line that it printed and that is no ``ExecutorLine``, such as one about an error.
    var unreadable: String?
    /// How it ended.
    let end: ProgramEnd

    /// True if the Executor was killed, by the scenario, by itself or by a Main.
    var wasKilled: Bool { end == .killed(by: 9) }

    /// Says that it printed a line that is no ``ExecutorLine``; nil where it did not.
    var complaint: String? {
        unreadable.map { "printed what is no line of an Executor: \(ValueText.oneLine($0))" }
    }
}

extension ParticipantDriver {
    /// Runs one Executor from its push to its end.
    ///
    /// - Parameters:
    ///   - body: Called with the Executor when it has started, and cancelled when it has ended.
    ///   - show: Called with each line that the Executor prints.
    func push(
        _ callID: CallID, as name: String, failPoint: String? = nil,
        during body: @escaping @Sendable (any TestProcess) async -> Void = { _ in },
        show: (ExecutorLine) async throws -> Void = { _ in }
    ) async throws -> PushResult {
        let process = try await startExecutor(for: callID, as: name, failPoint: failPoint)
        let faults = Task { await body(process) }
        do {
            var last: ExecutorLine?
            var unreadable: String?
            while let text = try await process.nextLine() {
                guard let line = try? ExecutorLine(printed: text) else {
                    unreadable = text
                    continue
                }
                try await show(line)
                last = line
            }
            faults.cancel()
            await faults.value
            return PushResult(line: last, unreadable: unreadable, end: await process.end())
        } catch {
            faults.cancel()
            await faults.value
            await process.stop()
            throw error
        }
    }

    /// Runs one Main until `body` returns, and asks it to end then.
    ///
    /// - Returns: The result of `body`, and the end of Main where it should not have ended so.
    func withMain<Value: Sendable>(
        as name: String, _ body: (any TestProcess) async throws -> Value
    ) async throws -> (value: Value, problem: ProgramEnd?) {
        let main = try await startMain(as: name)
        do {
            let value = try await body(main)
            let wasThere = !main.hasEnded
            let end = await main.stop(timeout: Task.isCancelled ? .seconds(1) : scenarioTimeout)
            switch end {
            case .exited(0), .killed(by: 9): return (value, nil)
            // Asked to end on its way to the core, before it could say so or even handle the signal.
            case .exited(1) where wasThere, .killed(by: 15) where wasThere: return (value, nil)
            default: return (value, end)
            }
        } catch {
            await main.stop()
            throw error
        }
    }
}

extension ProgramEnd {
    /// The end for people.
    var sentence: String {
        switch self {
        case .exited(let status): "status \(status)"
        case .killed(let signal): "signal \(signal)"
        }
    }
}
