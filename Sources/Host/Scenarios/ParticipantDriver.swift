internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput

/// The time limit for the message of each push, and for each expected event of a scenario. Only an overloaded machine
/// or a defect reaches it.
let scenarioTimeout = Duration.seconds(60)

/// Starts the Mains and Executors of a scenario: as processes or, for a backend in one process, simulated in this
/// process.
protocol ParticipantDriver: Sendable {
    /// The scenario's own handle. It does not take part in the ownership.
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
    /// Returns true if the ownership belongs to this participant and has not ended.
    func isHolder(_ owner: GroupOwner) -> Bool
    /// True after the process has ended.
    var hasEnded: Bool { get }
    /// Waits for the next line that it prints; nil at its end.
    func nextLine() async throws -> String?
    /// Kills the participant as SIGKILL does. Does nothing if it has ended.
    func kill()
    /// Stops the participant as SIGSTOP does, and returns when it has stopped or ended.
    func freeze() async
    /// Continues the participant.
    func thaw()
    /// Tells the participant to end.
    func terminate()
    /// Waits for its end, also when the task is cancelled.
    func end() async -> ProgramEnd
}

extension TestProcess {
    /// Tells the participant to end, kills it if it does not end in time, and waits for its end, also in a cancelled
    /// task.
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
    /// The last printed line that is not an ``ExecutorLine``, such as an error message.
    var unreadable: String?
    /// How it ended.
    let end: ProgramEnd

    /// True if the Executor was killed, by the scenario, by itself or by a Main.
    var wasKilled: Bool { end == .killed(by: 9) }

    /// A sentence about a printed line that is not an ``ExecutorLine``; nil if there is none.
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

    /// Runs one Main until `body` returns, and then tells it to end.
    ///
    /// - Returns: The result of `body`, and the end of Main if it is not the expected one.
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
            // If Main was told to end while it waited for the core, it exits with 1. If the signal came before Main had
            // installed its handler, the signal has killed it.
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
