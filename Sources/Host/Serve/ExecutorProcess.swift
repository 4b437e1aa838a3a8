internal import CoreAPI
internal import Lifecycle
internal import Platform
internal import Synchronization

/// An Executor that this host has started: its process, what it prints, and its budget.
///
/// One thread of its own does all of it: the kernel ends an Executor with the thread that started it, and whatever else an
/// Executor can do, it holds up nobody but its own thread.
final class ExecutorProcess: Sendable {
    /// How often its memory is looked at.
    static let sampling = Duration.milliseconds(250)
    /// The most of what it prints that is kept.
    private static let outputByteCount = 64 << 10

    private struct State {
        var budget: ExecutorBudget
        var mustStop = false
        var end: ExecutorEnd?
        var waiting: [CheckedContinuation<ExecutorEnd, Never>] = []
    }

    let process: ProcessIdentity
    private let handle: ProcessHandle
    private let program: StartedProgram
    private let output: OpenFile
    private let cage: MemoryCage.Cell?
    private let bell: EventCounter
    private let clock: any TimeSource
    private let start: BootInstant
    private let state: Mutex<State>

    private init(
        _ program: StartedProgram, _ handle: ProcessHandle, output: OpenFile, cage: MemoryCage.Cell?,
        limits: ExecutorLimits, clock: any TimeSource
    ) throws(SystemCallError) {
        self.program = program
        self.handle = handle
        self.process = handle.identity
        self.output = output
        self.cage = cage
        self.clock = clock
        bell = try EventCounter()
        start = clock.now()
        state = Mutex(State(budget: ExecutorBudget(limits, startedAt: start)))
    }

    /// Starts a program.
    ///
    /// - Parameter cage: Where its memory is limited by the system; nil where it is looked at.
    static func start(
        _ program: ExecutorProgram, limits: ExecutorLimits, cage: MemoryCage? = nil,
        clock: any TimeSource = SystemClock()
    ) async throws(SystemCallError) -> ExecutorProcess {
        let result: Result<ExecutorProcess, SystemCallError> = await withCheckedContinuation { continuation in
            do throws(SystemCallError) {
                try OwnedThread.start("executor") {
                    do throws(SystemCallError) {
                        let executor = try spawn(program, limits, cage, clock)
                        continuation.resume(returning: .success(executor))
                        executor.attend()
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    private static func spawn(
        _ program: ExecutorProgram, _ limits: ExecutorLimits, _ cage: MemoryCage?, _ clock: any TimeSource
    ) throws(SystemCallError) -> ExecutorProcess {
        let pipe = try Pipe()
        let started = try StartedProgram(
            program.path, program.arguments, variables: program.variables,
            streams: [try OpenFile(path: "/dev/null", .read), pipe.input, try OpenFile.standardError()],
            // So that what it leaves behind in its process group can be ended with it.
            ownSession: true)
        do throws(SystemCallError) {
            guard let identity = ProcessIdentity(of: started.pid) else {
                throw SystemCallError("read", number: SystemCallError.unsupportedOperation, at: "/proc/\(started.pid)")
            }
            let handle: ProcessHandle
            do throws(ProcessUnreachable) {
                handle = try ProcessHandle(identity)
            } catch {
                if case .unknown(let cause) = error { throw cause }
                throw SystemCallError("pidfd_open", number: SystemCallError.unsupportedOperation, at: "\(started.pid)")
            }
            let cell = limits.memory.flatMap { cage?.enclose(started.pid, byteCount: $0) }
            return try ExecutorProcess(
                started, handle, output: pipe.output, cage: cell, limits: limits, clock: clock)
        } catch {
            // Nobody would attend to it.
            started.kill()
            _ = try? started.waitForEnd()
            throw error
        }
    }

    /// Asks it to end, because the host does; it is killed when it does not.
    func stop() {
        state.withLock { $0.mustStop = true }
        bell.raise()
    }

    /// Waits for its end.
    func end() async -> ExecutorEnd {
        await withCheckedContinuation { continuation in
            let end = state.withLock { state in
                if state.end == nil { state.waiting.append(continuation) }
                return state.end
            }
            if let end { continuation.resume(returning: end) }
        }
    }

    /// Watches over it until it has ended.
    private func attend() {
        var printed: [UInt8] = []
        var isOpen = true
        var isSignalled = false
        while !handle.hasEnded {
            let descriptors = [handle.descriptor, bell.descriptor] + (isOpen ? [output.descriptor] : [])
            let ready = Poll.wait(for: descriptors, timeout: wait())
            if ready[1] { bell.clear() }
            if isOpen, ready[2] { isOpen = read(into: &printed) }
            judge(&isSignalled)
        }
        // What it had still to say, and no more: a process that it left behind may keep the other end.
        while isOpen, Poll.wait(for: [output.descriptor], timeout: .zero)[0] { isOpen = read(into: &printed) }
        finish(printed)
    }

    /// How long nothing needs to be done.
    private func wait() -> Duration {
        let next = state.withLock { $0.budget.next }
        let time = next.map { clock.now().duration(to: $0) } ?? Self.sampling
        return cage == nil ? min(time, Self.sampling) : time
    }

    private func read(into printed: inout [UInt8]) -> Bool {
        guard let bytes = try? output.readPart(upTo: 4 << 10), !bytes.isEmpty else { return false }
        printed += bytes.prefix(max(0, Self.outputByteCount - printed.count))
        return true
    }

    /// Tells the budget what happened, and does what it says.
    private func judge(_ isStopping: inout Bool) {
        var events: [ExecutorBudget.Event] = [.time]
        if !isStopping, state.withLock({ $0.mustStop }) {
            isStopping = true
            events.append(.stop)
        }
        let limited = cage == nil && state.withLock { $0.budget.limits.memory != nil }
        if limited, let count = ProcessMemory.ownByteCount(of: process) { events.append(.memory(count)) }
        for event in events {
            let directives = state.withLock { $0.budget.hear(event, at: clock.now()) }
            for directive in directives {
                switch directive {
                case .warn:
                    _ = try? handle.signal(.terminate)
                    // In case it is stopped, so that it can hear.
                    _ = try? handle.signal(.continue)
                case .kill: _ = try? handle.signal(.kill)
                }
            }
        }
    }

    private func finish(_ printed: [UInt8]) {
        let killedByCage = cage?.hasKilled() ?? false
        // Its number still means it, and so does that of its group.
        program.endGroup()
        let status = (try? program.waitForEnd()) ?? 137
        cage?.remove()
        let line = printed.split(separator: UInt8(ascii: "\n")).first.map { String(decoding: $0, as: UTF8.self) }
        let duration = start.duration(to: clock.now())
        let (waiting, end) = state.withLock { state in
            let limit = state.budget.limits.memory ?? 0
            let end = ExecutorEnd(
                status: status, warning: state.budget.warning,
                killing: status == 137 ? state.budget.killing ?? (killedByCage ? .memory(limit) : nil) : nil,
                duration: duration, line: line)
            state.end = end
            defer { state.waiting = [] }
            return (state.waiting, end)
        }
        for continuation in waiting { continuation.resume(returning: end) }
    }
}
