import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Synchronization
import TestSupport

/// The processes of a test, for tests that kill one.
final class ProcessTable: ProcessControl {
    private struct State {
        var processes: [ProcessIdentity: SimulatedProcess] = [:]
        var killed: [ProcessIdentity] = []
        var refusal: String?
    }

    private static let count = Atomic<UInt64>(0)

    private let state = Mutex(State())
    let bootID: BootID

    init(bootID: BootID) {
        self.bootID = bootID
    }

    /// The processes that a participant killed, in order.
    var killed: [ProcessIdentity] { state.withLock(\.killed) }

    /// Makes every attempt to kill impossible.
    func refuse(because reason: String) {
        state.withLock { $0.refusal = reason }
    }

    func start() -> SimulatedProcess {
        state.withLock { state in
            let pid = Int32(1000 + state.processes.count)
            // No two tables have a process in common: a session, which joins once, may be equal in everything else.
            let startTime = Self.count.add(1, ordering: .relaxed).newValue
            let process = SimulatedProcess(ProcessIdentity(bootID: bootID, pid: pid, startTime: startTime))
            state.processes[process.identity] = process
            return process
        }
    }

    func isExiting(_ process: ProcessIdentity) async -> Bool {
        state.withLock { $0.processes.values.first { $0.identity.pid == process.pid } }?.hasEnded ?? false
    }

    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        let (found, refusal) = state.withLock { state in
            if state.refusal == nil { state.killed.append(process) }
            return (state.processes[process], state.refusal)
        }
        if let refusal { return .impossible(refusal) }
        guard let found, !found.hasEnded else { return .gone }
        found.kill()
        return .signalled
    }
}

/// A process of the tests: it can be killed and frozen, with the participant and the core in it.
final class SimulatedProcess: Sendable {
    let identity: ProcessIdentity
    private let group = Mutex<MemoryGroup?>(nil)
    private let dead = Mutex(false)

    init(_ identity: ProcessIdentity) {
        self.identity = identity
    }

    var hasEnded: Bool { dead.withLock { $0 } }

    func attach(_ handle: MemoryGroup) {
        group.withLock { $0 = handle }
    }

    func kill() {
        dead.withLock { $0 = true }
        group.withLock { $0 }?.simulateKill()
    }

    func freeze() {
        group.withLock { $0 }?.simulateStop()
    }

    func thaw() {
        group.withLock { $0 }?.simulateContinue()
    }
}

/// A witness in front of another that holds up each core on its way, as a stop of its process just there would.
struct HeldWitness: Witness {
    let witness: any Witness
    /// True once a core has called the witness.
    let hasCome = Box(false)
    /// Set to let the core continue.
    let mayGoOn = Box(false)

    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        hasCome.update { $0 = true }
        // A stopped process holds up its threads, so this thread is held up and not its task. The wait ends in any
        // case: a failed test lets no process go on.
        waitOnThread(atMost: .seconds(60)) { mayGoOn.value }
        return try witness.begin(epoch: epoch)
    }
}
