internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// The command of `exclusive`, which runs once: waiting for its ownership, as a process, or ended.
final class ExclusiveProgram: Sendable {
    private enum State {
        case waiting
        /// Being started; the signals that came meanwhile.
        case starting([ProcessSignal])
        /// A process, which is the command from ``ExclusiveProgram/begin()`` on; whether it was sent a signal.
        case running(AttendedProgram, isSignalled: Bool)
        case over
    }

    /// The command and its arguments, byte by byte.
    private let command: [[UInt8]]
    /// How long it has from SIGTERM to SIGKILL when it is to let go.
    private let grace: Duration
    private let state = Mutex(State.waiting)
    /// The pipe that tells the process that it may become the command; closed by its end.
    private let leave = Mutex<OpenFile?>(nil)

    init(_ command: [[UInt8]], grace: Duration) {
        self.command = command
        self.grace = grace
    }

    /// Starts the process; again only where the former one failed to start or was withdrawn. It waits for ``begin()``.
    ///
    /// - Parameter variables: What its environment has more or otherwise than this process's.
    /// - Returns: Its process number.
    func start(variables: [String: String] = [:]) async throws -> Int32 {
        let isFirst = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .starting([])
            return true
        }
        guard isFirst else { throw CommandFailure(.unavailable, "the command has run already") }
        do {
            let pipe = try Pipe()
            // Such as SIGPIPE, which is ignored here, so that a closed pipe shows as an error. No signal is blocked: a command
            // that got them so would hear neither the SIGTERM of a hand-over nor those that are passed on.
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

    /// Lets the process become the command.
    func begin() {
        // One that has ended meanwhile does not hear it.
        leave.withLock { leave in
            try? leave?.writeStream([1])
            leave = nil
        }
    }

    /// Ends the process in place of ``begin()``: the command was never started, and may be started later. One that was sent a
    /// signal is not, since that was to end it.
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
    /// - Returns: Whether there is, or was, something to send it to.
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
        // In case it is stopped, so that it can hear.
        if [.terminate, .hangUp, .interrupt, .quit].contains(signal) { program.signal(.continue) }
    }

    /// Takes note of a signal that the terminal sends to all that run. While it is being started there may be nothing yet to
    /// hear it, so it is sent when there is.
    ///
    /// - Returns: Whether it is or was heard.
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

    /// How long before the end of its owner's session it is killed.
    private static let killMargin = Duration.milliseconds(100)

    /// Waits for the end of the command. If the task is cancelled, the command is asked to end. It is killed when its time is over,
    /// or shortly before the owner's session may be.
    ///
    /// - Parameters:
    ///   - lease: Until when that session is known to stand; nil where it ends with its process.
    ///   - onOrder: Called when it is asked to end. It must not block.
    /// - Returns: Its exit status as a shell has it; nil when it was not started.
    func end(
        lease: @escaping @Sendable () -> SessionLease? = { nil }, onOrder: @Sendable () -> Void = {}
    ) async -> Int32? {
        guard case .running(let program, _) = state.withLock({ $0 }) else { return nil }
        return await withTaskCancellationHandler {
            await program.end()
        } onCancel: {
            // One that has ended by itself loses its ownership for that reason.
            guard program.signal(.terminate) else { return }
            // In case it is stopped, so that it can hear.
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

    /// Checks that a command can be started, before anything is owned for it. Names and paths are bytes.
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
