internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import InMemoryBackend
internal import MaildirCore
internal import Platform
internal import ProgramOutput

/// A scenario in one process: a group in memory with participants whose death and stops are simulated.
struct MemoryDriver: ParticipantDriver {
    let group: any SharedGroup

    private let name: String
    private let space = MemorySpace()
    private let witness = MemoryWitness()
    private let maildir: String
    private let startDelay: Duration
    private let options: CoordinationOptions

    init(of name: String, maildir: String, startDelay: Duration, options: CoordinationOptions) async throws {
        self.name = name
        self.maildir = maildir
        self.startDelay = startDelay
        self.options = options
        group = try await space.open(name, as: SessionDescription(role: .tool, name: name))
    }

    func startExecutor(for callID: CallID, as name: String, failPoint: String?) async throws -> any TestProcess {
        let handle = try await open(.executor, as: name)
        let life = SimulatedLife()
        let request = ExecutorRequest(
            callID: callID, timeout: scenarioTimeout, maildir: maildir, startDelay: startDelay,
            options: options,
            witness: MortalWitness(witness: witness, life: life))
        return MemoryProcess(handle, life, stopping: { $0.cancel() }) { show in
            try await ExecutorRun.run(request, in: handle) { show($0.json.line) }.status
        }
    }

    func startMain(as name: String) async throws -> any TestProcess {
        let handle = try await open(.main, as: name)
        let life = SimulatedLife()
        let environment = CoordinationEnvironment(witness: MortalWitness(witness: witness, life: life))
        let main = try MainParticipant(of: handle, options: options, environment: environment) {
            [maildir, startDelay] in MaildirCore(directory: maildir, startDelay: startDelay)
        }
        return MemoryProcess(handle, life, stopping: { _ in Task { await main.stop() } }) { show in
            do throws(CoordinationError) {
                try await main.start()
            } catch {
                // The participant was told to end before it owned.
                if error.code == .closed { return .no }
                throw error
            }
            show("owning")
            _ = await main.waitUntilEnded()
            await main.stop()
            return .success
        }
    }

    private func open(_ role: SessionRole, as name: String) async throws -> MemoryGroup {
        try await space.open(self.name, as: SessionDescription(role: role, name: name))
    }
}

/// A participant of this process.
private final class MemoryProcess: TestProcess {
    typealias Work = Task<ExitStatus, Never>

    private let handle: MemoryGroup
    private let life: SimulatedLife
    private let lines: AsyncStream<String>
    private let work: Work
    private let stopping: @Sendable (Work) -> Void
    private let isOver = Box(false)

    /// Starts the work of a simulated process.
    ///
    /// - Parameters:
    ///   - stopping: Tells the work to end.
    ///   - body: The work; its argument prints a line.
    init(
        _ handle: MemoryGroup, _ life: SimulatedLife, stopping: @escaping @Sendable (Work) -> Void,
        _ body: @escaping @Sendable (_ show: @Sendable (String) -> Void) async throws -> ExitStatus
    ) {
        let (lines, output) = AsyncStream<String>.makeStream()
        (self.handle, self.life, self.lines, self.stopping) = (handle, life, lines, stopping)
        work = Task { [isOver] in
            var status: ExitStatus
            do {
                status = try await body { line in
                    // A process that was killed prints nothing.
                    if !life.isOver { output.yield(line) }
                }
            } catch {
                status = .unavailable
                // Prints the error as a failing process does, unless the participant was told to end.
                if !life.isOver, !Task.isCancelled {
                    StandardError.write("\(handle.session.name): \(error)")
                }
            }
            await handle.close()
            isOver.update { $0 = true }
            output.finish()
            return status
        }
    }

    var hasEnded: Bool { life.isOver || isOver.value }

    func isHolder(_ owner: GroupOwner) -> Bool { owner.session == handle.session.id && !hasEnded }

    func nextLine() async throws -> String? {
        var iterator = lines.makeAsyncIterator()
        let line = await iterator.next()
        try Task.checkCancellation()
        return line
    }

    func kill() {
        if isOver.value { return }
        life.end()
        handle.simulateKill()
    }

    func freeze() async { handle.simulateStop() }

    func thaw() { handle.simulateContinue() }

    func terminate() { stopping(work) }

    func end() async -> ProgramEnd {
        let status = await work.value
        return life.isOver ? .killed(by: 9) : .exited(status.rawValue)
    }
}

/// A witness as one simulated process has it: its holds end with its death, as the kernel ends a process's locks.
private struct MortalWitness: Witness {
    let witness: MemoryWitness
    let life: SimulatedLife

    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        let hold = witness.begin(epoch: epoch)
        life.atEnd { hold.end() }
        return hold
    }
}
