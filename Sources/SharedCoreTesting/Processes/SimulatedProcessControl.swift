internal import Coordination
internal import CoreAPI

/// The processes of a simulated group, as a participant sees and kills them.
struct SimulatedProcessControl: ProcessControl {
    private let find: @Sendable (ProcessIdentity) -> ProcessExecutor?

    init(of simulation: SimulatedGroup) {
        find = { [weak simulation] identity in simulation?.executor(of: identity) }
    }

    func isStopped(_ process: ProcessIdentity) async -> Bool? {
        find(process)?.isFrozen
    }

    func isExiting(_ process: ProcessIdentity) async -> Bool {
        find(process)?.life.isOver ?? true
    }

    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillOutcome {
        guard let found = find(process), !found.life.isOver else { return .gone }
        // Whoever asks is a process of the group: nothing else runs now.
        found.kill()
        return .signalled
    }
}
