import Coordination
import CoreAPI
import Synchronization

/// The processes of a test, for whoever has to kill one.
final class ProcessTable: ProcessControl {
    private struct State {
        var processes: [ProcessIdentity: SimulatedProcess] = [:]
        var killed: [ProcessIdentity] = []
        var refusal: String?
    }

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
            let process = SimulatedProcess(ProcessIdentity(bootID: bootID, pid: pid, startTime: UInt64(pid)))
            state.processes[process.identity] = process
            return process
        }
    }

    func isExiting(_ process: ProcessIdentity) async -> Bool {
        state.withLock { $0.processes.values.first { $0.identity.pid == process.pid } }?.isDead ?? false
    }

    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillOutcome {
        let (found, refusal) = state.withLock { state in
            if state.refusal == nil { state.killed.append(process) }
            return (state.processes[process], state.refusal)
        }
        if let refusal { return .impossible(refusal) }
        guard let found, !found.isDead else { return .gone }
        found.kill()
        return .signalled
    }
}
