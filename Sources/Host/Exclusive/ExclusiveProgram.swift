internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// The command of `exclusive`, which runs once: waiting for its ownership, as a process, or ended.
final class ExclusiveProgram: Sendable {
    private enum State {
        case waiting
        /// The program is being started; these signals came meanwhile.
        case starting([ProcessSignal])
        /// The process runs. It waits until ``ExclusiveProgram/begin()``, and is the command from then on.
        /// `isSignalled` is true if a signal was sent to it.
        case running(AttendedProgram, isSignalled: Bool)
        case over
    }

    /// The command and its arguments, byte by byte.
    private let command: [[UInt8]]
    /// The time from SIGTERM to SIGKILL when the core must be released.
    private let grace: Duration
    private let state = Mutex(State.waiting)
    /// The pipe through which the waiting process is told to execute the command. Closing the pipe ends the process.
    private let leave = Mutex<OpenFile?>(nil)

    init(_ command: [[UInt8]], grace: Duration) {
        self.command = command
        self.grace = grace
    }

    /// Starts the process, which waits for ``begin()``. May be called again only if the former process failed to start
    /// or was withdrawn.
    ///
    /// - Parameter variables: The variables that its environment has in addition to, or in place of, those of this
    ///   process.
    /// - Returns: Its process id.
    func start(variables: [String: String] = [:]) async throws -> Int32 {
        let isFirst = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .starting([])
            return true
        }
        guard isFirst else { throw CommandFailure(.unavailable, "the command has already run") }
        do {
            let pipe = try Pipe()
            // The command gets the dispositions with which this process was started; SIGPIPE, for example, is ignored
            // only here. No signal is blocked: a command with blocked signals would receive neither the SIGTERM of a
            // hand-over nor relayed signals.
            let signals = OwnProcess.Signals(ignored: OwnProcess.startedSignals.ignored, blocked: 0)
            let gate = StartGate.arguments(
                for: [], as: .command, leave: pipe.output.descriptor, signals: signals)
            let program = try await AttendedProgram.start(
                OwnProgram.path, gate.map { Array($0.utf8) } + command, variables: variables, keeping: pipe.output)
            leave.withLock { $0 = pipe.input }
            let missed = state.withLock { state in
                guard case .starting(let signals) = state else { return [ProcessSignal]() }
                state = .running(program, isSignalled: !signals.isEmpty)
                return signals
            }
            for signal in missed { Self.pass(signal, to: program) }
            return program.pid
        } catch {
            state.withLock { state in
                if case .starting(let signals) = state { state = signals.isEmpty ? .waiting : .over }
            }
            throw error
        }
    }

    /// True while the command was neither started nor told to end.
    var isWaiting: Bool {
        state.withLock { state in if case .waiting = state { true } else { false } }
    }

    /// Tells the process to become the command.
    func begin() {
        // An error is ignored: the process may have ended.
        leave.withLock { leave in
            try? leave?.writeStream([1])
            leave = nil
        }
    }

    /// Ends the process in place of ``begin()``: the command has not been started, and may be started later, unless it
    /// was sent a signal that was to end it.
    func withdraw() async {
        guard case .running(let program, _) = state.withLock({ $0 }) else { return }
        leave.withLock { $0 = nil }
        program.signal(.kill)
        _ = await program.end()
        state.withLock { state in
            if case .running(_, let isSignalled) = state { state = isSignalled ? .over : .waiting }
        }
    }

    /// Sends it a signal.
    ///
    /// - Returns: True if the command's process exists or has existed.
    func signal(_ signal: ProcessSignal) -> Bool {
        let program = state.withLock { state -> (AttendedProgram?, Bool) in
            switch state {
            case .waiting: return (nil, false)
            case .starting(let signals):
                state = .starting(signals + [signal])
                return (nil, true)
            case .running(let program, _):
                state = .running(program, isSignalled: true)
                return (program, true)
            case .over: return (nil, true)
            }
        }
        if let running = program.0 { Self.pass(signal, to: running) }
        return program.1
    }

    private static func pass(_ signal: ProcessSignal, to program: AttendedProgram) {
        program.signal(signal)
        // A stopped process must continue to receive the signal.
        if [.terminate, .hangUp, .interrupt, .quit].contains(signal) { program.signal(.continue) }
    }

    /// Records a signal that the terminal sends to all processes of its foreground group. A program that is being
    /// started may not receive it, so it is sent again once the program runs.
    ///
    /// - Returns: True if the program receives or has received the signal.
    func terminalSent(_ signal: ProcessSignal) -> Bool {
        state.withLock { state in
            switch state {
            case .waiting: return false
            case .starting(let signals):
                state = .starting(signals + [signal])
                return true
            case .running(let program, _):
                state = .running(program, isSignalled: true)
                return true
            case .over: return true
            }
        }
    }

    /// How long before the end of its owner's session the command is killed.
    private static let killMargin = Duration.milliseconds(100)

    /// Waits for the end of the command. If the task is cancelled, the command is sent SIGTERM. It is killed when its
    /// time is over, or shortly before the owner's session may end.
    ///
    /// - Parameters:
    ///   - lease: The time until which the session is known to last; nil if it ends with its process.
    ///   - onOrder: Called when it is sent SIGTERM. It must not block.
    /// - Returns: Its exit status as in a shell; nil if it was not started.
    func end(
        lease: @escaping @Sendable () -> SessionLease? = { nil }, onOrder: @Sendable () -> Void = {}
    ) async -> Int32? {
        guard case .running(let program, _) = state.withLock({ $0 }) else { return nil }
        return await withTaskCancellationHandler {
            await program.end()
        } onCancel: {
            // If the command has ended by itself, this is an ordinary release, so no order is reported.
            guard program.signal(.terminate) else { return }
            // A stopped process must continue to receive the signal.
            program.signal(.continue)
            let clock = SystemClock()
            let limit = clock.now().advanced(by: grace)
            Task.detached {
                // The end moves with each answer of the group.
                while true {
                    let last = lease().map { $0.confirmedAt.advanced(by: $0.duration - Self.killMargin) }
                    let due = min(limit, last ?? limit)
                    guard clock.now() < due, (try? await clock.sleep(until: due)) != nil else { break }
                }
                program.signal(.kill)
            }
            onOrder()
        }
    }
}

/// Searches for a command as the shell does.
enum CommandSearch {
    /// The reason why a command cannot be started: the exit status and a line for people.
    struct Failure: Error, Hashable {
        let status: Int32
        let message: String
    }

    /// Checks that a command can be started, before the core is acquired for it. Names and paths are bytes.
    static func check(_ name: [UInt8], path: [UInt8]?) throws(Failure) {
        let shown = "“\(ProgramText.escaped(name))”"
        switch ProgramSearch.find(name, path: path) {
        case .found: return
        case .notExecutable:
            throw Failure(status: ExclusiveStatus.notExecutable, message: "\(shown) cannot be executed")
        case .notFound: throw Failure(status: ExclusiveStatus.notFound, message: "\(shown) was not found")
        }
    }
}
