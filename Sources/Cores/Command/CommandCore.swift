public import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// A core that runs any program as a child process and exchanges lines of JSON-RPC 2.0 with it on its standard input
/// and output.
///
/// ```swift
/// try await group.withMain(core: { CommandCore(["python3", "/usr/lib/example/core.py"]) }) { main in ... }
/// ```
///
/// The program is started for each ownership. It gets the request `start` with the epoch, the role and the push, and
/// then connects. It delivers each message with `deliver`, and acknowledges it to its server only after the answer. On
/// `stop`, which has the reason, it ends: after a half of ``StopRequest/timeout`` it gets SIGTERM, after three quarters
/// SIGKILL. The page Coordination describes all requests.
///
/// The core has stopped when the program and all processes that it has started have ended, if they have this process's
/// user and the program's environment. If this process is killed, the kernel also kills the program. The processes that
/// the program has started are then ended before the next core of the group starts on this machine, if they have that
/// environment.
///
/// A core costs one thread and six descriptors. In a group of `SharedCoreTesting` the thread uses the real clock, not
/// the simulated one.
///
/// Source: contract P14.
public final class CommandCore: Core {
    private let command: [String]
    private let variables: [String: String]
    private let startTimeout: Duration
    private let log: @Sendable (String) -> Void
    private let current = Mutex<Run?>(nil)

    private struct Run {
        let program: CoreProgram
        let calls: ProgramCalls
        let context: CoreContext
        /// The key of the note that identifies the running program.
        let note: Key
    }

    /// Makes a core for one ownership. Nothing runs before it is started.
    ///
    /// - Parameters:
    ///   - command: The program, which is searched in `PATH`, and its arguments.
    ///   - variables: The variables that its environment has in addition to, or in place of, those of this process. The
    ///     core adds `SHAREDCORE_EPOCH`, `SHAREDCORE_ROLE` and the variables of a push. `start` also contains the value
    ///     of `SHAREDCORE_GROUP`.
    ///   - startTimeout: The time limit for the answer to `start`.
    ///   - log: Called with each line of its standard error, in order, on a thread that it may block. Lines beyond a
    ///     limit are dropped and counted. Nil writes them to this process's standard error.
    public init(
        _ command: [String], variables: [String: String] = [:], startTimeout: Duration = .seconds(30),
        log: (@Sendable (String) -> Void)? = nil
    ) {
        self.command = command
        self.variables = variables
        self.startTimeout = startTimeout
        self.log = log ?? { StandardError.write("sharedcore: \($0)") }
    }

    /// Ends the programs of former cores, starts the program and waits until it has connected.
    ///
    /// - Throws: ``CommandCoreError``; ``SharedCoreError`` from the store, or if the system refuses a process;
    ///   `CancellationError`.
    public func start(in context: CoreContext) async throws {
        let path = try path()
        guard current.withLock({ $0 == nil }) else {
            throw SharedCoreError(
                .invalidArgument,
                "A CommandCore is for one ownership: make a new one each time that a core is asked for.",
                at: "CommandCore")
        }
        let former = try await FormerCommand.end(in: context.store, under: context.epoch)
        let mark = LaunchMark(parent: .current, number: .random(in: 1...UInt64.max))
        // Write the note before the program is started. Even if this process is killed right after the start, the next
        // core then finds the program, and processes that it has started, by the mark.
        let note = try await FormerCommand.note(nil, of: context.epoch, mark, in: context.store, forgetting: former)
        let calls = ProgramCalls(in: context)
        let program: CoreProgram
        do {
            program = try await startProgram(at: path, in: context, mark, answering: calls)
        } catch {
            try? await FormerCommand.forget(note, in: context.store)
            throw error
        }
        current.withLock { $0 = Run(program: program, calls: calls, context: context, note: note) }
        // Write the process id before the program connects: if the program detaches itself from this process, only this
        // note identifies it.
        _ = try await FormerCommand.note(program.pid, of: context.epoch, mark, in: context.store, forgetting: [])
        _ = try await program.begin(startParameters(in: context), within: startTimeout)
    }

    /// Runs until the program ends or the task is cancelled.
    ///
    /// - Throws: ``CommandCoreError`` if it has ended by itself, with any status, or was ended for an error.
    public func iterate(in context: CoreContext) async throws {
        try await current.withLock { $0 }?.program.untilEnd()
    }

    public func stop() async { await stop(StopRequest(.closing)) }

    public func stop(_ request: StopRequest) async {
        guard let run = current.withLock({ $0 }) else { return }
        let clock = SystemClock()
        let begin = clock.now()
        run.program.stop(Self.parameters(of: request), within: request.timeout)
        let problem = await run.program.untilEnded()
        let limit = Self.tellingLimit(of: request.timeout, from: begin, ended: clock.now())
        // Limit the time for the remaining requests: the store may not answer, and the program has ended in any case.
        let rest = Task {
            if let problem { await run.context.report(problem) }
            try? await FormerCommand.forget(run.note, in: run.context.store)
        }
        let timer = Task {
            try await clock.sleep(until: limit)
            rest.cancel()
            run.program.cancelAnswers()
            run.calls.cancel()
        }
        await run.program.untilAnswered()
        await run.calls.finish()
        await rest.value
        timer.cancel()
    }

    /// Returns the time limit for writing the outcome of a stop to the group. A program that had to be killed has used
    /// three quarters of the time, and the timeline must still get that entry.
    static func tellingLimit(of timeout: Duration, from begin: BootInstant, ended end: BootInstant) -> BootInstant {
        max(begin.advanced(by: timeout * 7 / 8), end.advanced(by: timeout / 8))
    }

    // MARK: - Starting

    private func path() throws(CommandCoreError) -> String {
        let name = command.first ?? ""
        switch ProgramSearch.find(Array(name.utf8), path: OwnProcess.variable("PATH")) {
        case .found(let path): return String(decoding: path, as: UTF8.self)
        case .notExecutable: throw CommandCoreError(.notExecutable, "“\(name)” cannot be executed")
        case .notFound: throw CommandCoreError(.notFound, "“\(name)” was not found")
        }
    }

    private func startProgram(
        at path: String, in context: CoreContext, _ mark: LaunchMark, answering calls: ProgramCalls
    ) async throws -> CoreProgram {
        var own = CoreVariables.of(context).merging(context.push?.variables ?? [:]) { one, _ in one }
        own[LaunchMark.Role.core.variable] = mark.text
        let omitted = CoreVariables.ofServiceManager.union(LaunchMark.Role.allCases.map(\.variable))
            .union(Push.Variable.allCases.map(\.rawValue))
        do throws(SystemCallError) {
            return try await CoreProgram.start(
                path, Array(command.dropFirst()), variables: variables.merging(own) { _, own in own },
                omitting: omitted, mark: mark, log: log, answering: { await calls.answer($0, of: $1) })
        } catch {
            guard error.call == "execve" else { throw SharedCoreError(error) }
            throw CommandCoreError(
                error.isAbsent ? .notFound : .notExecutable, "“\(command[0])” cannot be executed: \(error.text)")
        }
    }

    private func startParameters(in context: CoreContext) -> JSONObject {
        let push: JSONValue =
            context.push.map { push in
                .object([
                    "callID": .text(push.callID.text), "type": .text(push.type), "account": .text(push.account),
                    "payload": .text(Base64.encode(push.payload)),
                ])
            } ?? .null
        return [
            "protocol": .integer(CoreProgram.version), "epoch": .natural(context.epoch.rawValue),
            "role": .text(context.role.rawValue), "group": .optional(group), "push": push,
            "methods": .array(ProgramCall.methods.map { .text($0) }),
            "limits": .object([
                "lineBytes": .integer(Int64(CoreProgram.lineByteCount)),
                "valueBytes": .integer(Int64(context.store.capabilities.limits.valueByteCount)),
                "unanswered": .integer(Int64(CoreProgram.unansweredCount)),
            ]),
        ]
    }

    /// The group's name, where the environment of the program has it.
    private var group: String? {
        variables[CoreVariables.group]
            ?? OwnProcess.variable(CoreVariables.group).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func parameters(of request: StopRequest) -> JSONObject {
        let activity: JSONValue =
            request.activity.map { .object(["kind": .text($0.kind.name), "id": .text($0.id)]) } ?? .null
        return [
            "reason": .text(request.reason.description), "requester": .optional(request.requester),
            "activity": activity, "timeoutMs": .natural(request.timeout.wholeMilliseconds),
        ]
    }
}
