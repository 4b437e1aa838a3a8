internal import CommandCore
internal import CoreAPI
internal import Lifecycle
internal import Platform
internal import Synchronization

/// An Executor that this host has started: its process, what it prints, and its budget.
///
/// One thread of its own does all of it: the kernel ends an Executor with the thread that started it, and a slow
/// Executor can only block its own thread.
final class ExecutorProcess: Sendable {
    /// The interval at which its memory is read, and after which a signal that could not be sent is sent again.
    static let sampling = Duration.milliseconds(250)
    /// The maximum number of printed bytes that are kept.
    private static let outputByteCount = 64 << 10

    /// Puts a held process into a cgroup that limits its memory; returns nil if that was not possible.
    typealias Enclosing = @Sendable (Int32) -> CgroupLimit.Cell?
    typealias Signalling = @Sendable (ProcessHandle, ProcessSignal) throws(SystemCallError) -> Void
    /// Handles the first line that it prints. Returns when the message of the line may be acknowledged.
    typealias Hearing = @Sendable (PrintedLine) async -> Void

    private struct State {
        var budget: ExecutorBudget
        var mustStop = false
        /// The latest change of its core's activity that was not handled yet; nil if there is none.
        var busy: ExecutorBudget.Event?
        /// The hearing of its first line.
        var hearing: Task<Void, Never>?
    }

    /// The state of the thread that attends to the process.
    private struct Attendance {
        var printed: [UInt8] = []
        /// True if it has printed more than is kept.
        var hadMore = false
        /// True after its first line was handed on.
        var isHeard = false
        var isOpen = true
        var isStopping = false
        /// True if it must be killed and was not killed yet.
        var mustBeKilled = false
    }

    let process: ProcessIdentity
    private let handle: ProcessHandle
    private let program: StartedProgram
    private let output: OpenFile
    /// The pipe that tells the program that its first line was handled; nil for a program that reads nothing.
    private let confirmation: OpenFile?
    private let cgroupLimit: CgroupLimit.Cell?
    private let changeSignal: EventCounter
    private let clock: any TimeSource
    private let signal: Signalling
    private let hear: Hearing
    private let start: BootInstant
    private let state: Mutex<State>
    private let outcome = Promise<ExecutorEnd>()

    private init(
        _ program: StartedProgram, output: OpenFile, confirmation: OpenFile?,
        changeSignal: EventCounter, cgroupLimit: CgroupLimit.Cell?, limits: ExecutorLimits, clock: any TimeSource,
        signal: @escaping Signalling, hear: @escaping Hearing
    ) {
        self.program = program
        handle = program.handle
        process = handle.identity
        self.output = output
        self.confirmation = confirmation
        self.cgroupLimit = cgroupLimit
        self.clock = clock
        self.changeSignal = changeSignal
        self.signal = signal
        self.hear = hear
        start = clock.now()
        state = Mutex(State(budget: ExecutorBudget(limits, startedAt: start)))
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - enclosing: Puts it into a cgroup; nil if its memory is measured instead.
    ///   - hear: Called with the first line that it prints, as soon as the line is complete, and also if the program is
    ///     killed.
    static func start(
        _ program: ExecutorInvocation, limits: ExecutorLimits, enclosing: Enclosing? = nil,
        clock: any TimeSource = SystemClock(), signal: @escaping Signalling = sending,
        hear: @escaping Hearing = { _ in }
    ) async throws(SystemCallError) -> ExecutorProcess {
        try await OwnedThread.start("executor") { () throws(SystemCallError) in
            try spawn(program, limits, enclosing, clock, signal, hear)
        } then: { executor in
            executor.attend()
        }
    }

    /// Sends a signal.
    static let sending: Signalling = { handle, signal throws(SystemCallError) in _ = try handle.signal(signal) }

    private static func spawn(
        _ program: ExecutorInvocation, _ limits: ExecutorLimits, _ enclosing: Enclosing?, _ clock: any TimeSource,
        _ signal: @escaping Signalling, _ hear: @escaping Hearing
    ) throws(SystemCallError) -> ExecutorProcess {
        let pipe = try Pipe()
        // For the byte that makes a held program begin, and the byte that confirms its line.
        let words = program.isHeld || program.isConfirmed ? try Pipe() : nil
        let input = if let words { words.output } else { try OpenFile(path: "/dev/null", .read) }
        let started = try StartedProgram(
            program.path, program.arguments, variables: program.variables,
            streams: [input, pipe.input, try OpenFile.standardError()],
            // In its own session, processes that it leaves behind in its process group can be ended together with it.
            ownSession: true, endsWithThread: true,
            omitting: ServiceNotifier.variables.union(LaunchMark.Role.allCases.map(\.variable)))
        do throws(SystemCallError) {
            let changeSignal = try EventCounter()
            let cell = enclosing.flatMap { $0(started.pid) }
            if program.isHeld { try words?.input.writeStream([1]) }
            return ExecutorProcess(
                started, output: pipe.output, confirmation: program.isConfirmed ? words?.input : nil,
                changeSignal: changeSignal,
                cgroupLimit: cell, limits: limits, clock: clock, signal: signal, hear: hear)
        } catch {
            // Kill the program, because no thread would supervise it.
            started.kill()
            _ = try? started.waitForEnd()
            throw error
        }
    }

    /// Tells it to end because the host ends. It is killed if it does not.
    func stop() {
        state.withLock { $0.mustStop = true }
        changeSignal.raise()
    }

    /// Extends its time while its core is busy.
    ///
    /// - Parameter end: The latest end of the activity; nil if it is not busy.
    func setBusy(until end: BootInstant?) {
        state.withLock { $0.busy = .busy(until: end) }
        changeSignal.raise()
    }

    /// Waits until it has ended and its line was handled.
    func end() async -> ExecutorEnd {
        let end = await outcome.value()
        await state.withLock { $0.hearing }?.value
        return end
    }

    /// Monitors it until it has ended.
    private func attend() {
        var attendance = Attendance()
        while !handle.hasEnded {
            let descriptors =
                [handle.descriptor, changeSignal.descriptor] + (attendance.isOpen ? [output.descriptor] : [])
            let ready = Poll.wait(for: descriptors, timeout: wait(attendance))
            if ready[1] { changeSignal.clear() }
            if attendance.isOpen, ready[2] { read(&attendance) }
            judge(&attendance)
        }
        // Reads only the output that is already there: a process that it left behind may have the pipe open, and write
        // more.
        var left = output.waitingByteCount
        while attendance.isOpen, left > 0 { left -= read(&attendance) }
        let line = PrintedLine(attendance.printed, hadMore: attendance.hadMore)
        handOn(line, &attendance)
        finish(line)
    }

    /// Passes the first line on, once, and tells the program to continue.
    private func handOn(_ line: PrintedLine?, _ attendance: inout Attendance) {
        guard let line, !attendance.isHeard else { return }
        attendance.isHeard = true
        let hearing = Task { [hear, confirmation] in
            await hear(line)
            // An error is ignored: the program may have ended.
            try? confirmation?.writeStream([1])
        }
        state.withLock { $0.hearing = hearing }
    }

    /// True if its memory must be sampled, because the kernel does not limit it.
    private var isSampled: Bool {
        cgroupLimit == nil && state.withLock { $0.budget.limits.memory != nil && $0.budget.killing == nil }
    }

    /// Returns the time until the next step; nil if there is none before an event.
    private func wait(_ attendance: Attendance) -> Duration? {
        if attendance.mustBeKilled { return Self.sampling }
        let time = state.withLock { $0.budget.next }.map { clock.now().duration(to: $0) }
        return isSampled ? min(time ?? Self.sampling, Self.sampling) : time
    }

    /// Reads the available output, and returns its size.
    @discardableResult
    private func read(_ attendance: inout Attendance) -> Int {
        let bytes = (try? output.readPart(upTo: 4 << 10)) ?? []
        let kept = bytes.prefix(max(0, Self.outputByteCount - attendance.printed.count))
        attendance.printed += kept
        attendance.hadMore = attendance.hadMore || kept.count < bytes.count
        attendance.isOpen = !bytes.isEmpty
        if !attendance.isHeard, attendance.hadMore || kept.contains(UInt8(ascii: "\n")) {
            handOn(PrintedLine(complete: attendance.printed, hadMore: attendance.hadMore), &attendance)
        }
        return bytes.count
    }

    /// Passes events to the budget, and carries out its directives.
    private func judge(_ attendance: inout Attendance) {
        // Apply the change of activity first: it may extend a time limit that would otherwise count as passed.
        let busy = state.withLock { state in
            defer { state.busy = nil }
            return state.busy
        }
        var events: [ExecutorBudget.Event] = [busy, .time].compactMap(\.self)
        if !attendance.isStopping, state.withLock({ $0.mustStop }) {
            attendance.isStopping = true
            events.append(.stop)
        }
        if isSampled, let count = ProcessMemory.ownByteCount(of: process) { events.append(.memory(count)) }
        for event in events {
            let directives = state.withLock { $0.budget.handle(event, at: clock.now()) }
            for directive in directives {
                switch directive {
                case .warn:
                    _ = try? signal(handle, .terminate)
                    // A stopped process must continue to receive the signal.
                    _ = try? signal(handle, .continue)
                case .kill: attendance.mustBeKilled = true
                }
            }
        }
        // A process that has another user's identity for a moment cannot be signalled now. It is killed at the next
        // step.
        if attendance.mustBeKilled { attendance.mustBeKilled = (try? signal(handle, .kill)) == nil }
    }

    private func finish(_ line: PrintedLine?) {
        let killedByCage = cgroupLimit?.hasKilled() ?? false
        // The process has not been reaped, so its process id, which is also the id of its group, still belongs to it.
        program.endGroup()
        let status = (try? program.waitForEnd()) ?? 137
        cgroupLimit?.remove()
        let duration = start.duration(to: clock.now())
        let budget = state.withLock { $0.budget }
        let killing = budget.killing ?? (killedByCage ? .memory(budget.limits.memory ?? 0) : nil)
        outcome.fulfil(
            ExecutorEnd(
                status: status, warning: budget.warning, killing: status == 137 ? killing : nil, duration: duration,
                line: line))
    }
}
