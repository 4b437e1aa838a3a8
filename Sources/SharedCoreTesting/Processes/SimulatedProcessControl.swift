internal import Coordination
internal import CoreAPI

/// The processes of a simulated group, as a participant sees and kills them.
struct SimulatedProcessControl: ProcessControl {
    private let find: @Sendable (ProcessIdentity) -> SimulatedProcess?

    init(of simulation: SimulatedGroup) {
        find = { [weak simulation] identity in simulation?.process(identity) }
    }

    func isStopped(_ process: ProcessIdentity) async -> Bool? {
        find(process)?.isFrozen
    }

    func isExiting(_ process: ProcessIdentity) async -> Bool {
        find(process)?.isDead ?? true
    }

    func kill(_ process: ProcessIdentity) async -> KillOutcome {
        guard let found = find(process), !found.isDead else { return .gone }
        found.kill()
        return .signalled
    }
}
