internal import BenchmarkRun
internal import Coordination
internal import CoreAPI
internal import InMemoryBackend
internal import Platform
internal import Synchronization

/// Starts participants of the memory backend in this process, with simulated deaths and stops.
final class MemoryBenchDriver: BenchDriver {
    let directory: String
    private let space = MemorySpace()
    private let witness = MemoryWitness()
    private let processes = SimulatedProcesses()
    private let started = Mutex<[MemoryBenchParticipant]>([])

    private init(in directory: String) {
        self.directory = directory
    }

    /// Takes one sample, and closes all participants.
    static func sample(
        in directory: String, _ scenario: (MemoryBenchDriver) async throws -> Double
    ) async throws -> Double {
        let driver = MemoryBenchDriver(in: directory)
        let result: Result<Double, any Error>
        do {
            result = .success(try await scenario(driver))
        } catch {
            result = .failure(error)
        }
        for participant in driver.started.withLock({ $0 }) { await participant.close() }
        return try result.get()
    }

    func start(_ role: SessionRole) async throws -> any BenchParticipant { try await start(role, core: BenchCore()) }

    func start(receiving callID: String, from server: String, coreStart: Duration) async throws -> any BenchParticipant
    {
        let participant = try await start(.executor, core: BenchCore(server: server, startDelay: coreStart))
        if let callID = CallID(callID) { participant.begin { try await $0.message(callID) } }
        return participant
    }

    private func start(_ role: SessionRole, core: BenchCore) async throws -> MemoryBenchParticipant {
        let handle = try await space.open("bench", as: SessionDescription(role: role, name: "bench"))
        let participant = MemoryBenchParticipant(
            try BenchParticipation(
                in: handle, core: core, environment: CoordinationEnvironment(processes: processes, witness: witness)),
            handle, stopping: { [processes] in processes.hasStopped.store(true, ordering: .relaxed) })
        started.withLock { $0.append(participant) }
        return participant
    }
}

private final class MemoryBenchParticipant: BenchParticipant {
    private let participation: BenchParticipation
    private let handle: MemoryGroup
    private let stopping: @Sendable () -> Void
    private let work = Mutex<Task<BootInstant, any Error>?>(nil)

    init(_ participation: BenchParticipation, _ handle: MemoryGroup, stopping: @escaping @Sendable () -> Void) {
        (self.participation, self.handle, self.stopping) = (participation, handle, stopping)
    }

    /// Begins the work that ``owning()`` or ``message()`` waits for.
    func begin(_ body: @escaping @Sendable (BenchParticipation) async throws -> Void) {
        let task = Task { [participation] in
            try await body(participation)
            return SystemClock().now()
        }
        work.withLock { $0 = task }
    }

    func ask() async throws -> BootInstant {
        let now = SystemClock().now()
        begin { try await $0.own() }
        return now
    }

    func owning() async throws -> BootInstant { try await message() }

    func message() async throws -> BootInstant {
        guard let work = work.withLock({ $0 }) else { throw SharedCoreError.closed("bench") }
        return try await work.value
    }

    func kill() { handle.simulateKill() }

    func stop() {
        stopping()
        handle.simulateStop()
    }

    /// All are closed together when the sample is taken.
    func finish() async throws {}

    func close() async {
        await participation.close()
        await handle.close()
    }
}

/// The system as it would be seen if the participants had processes: nothing but whether the one that owns is stopped.
private final class SimulatedProcesses: ProcessControl {
    let hasStopped = Atomic(false)

    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        .impossible("it lives in this process")
    }

    func isStopped(_ process: ProcessIdentity) async -> Bool? { hasStopped.load(ordering: .relaxed) }
}
