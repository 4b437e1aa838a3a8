internal import Coordination
internal import CoreAPI

/// The witness of a case's cores: locks of a file, which also notes beside the store what it saw, so that a case need not
/// believe the timeline.
struct NotingWitness: Witness {
    private let locks: FileWitness
    private let server: SharedServer
    private let life: SimulatedLife

    init(at server: SharedServer, in life: SimulatedLife) {
        locks = FileWitness(path: server.witnessPath)
        self.server = server
        self.life = life
    }

    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        let hold = try locks.begin(epoch: epoch)
        life.keep(hold)
        for other in hold.others { server.note(OverlapSight(epoch: epoch, other: other)) }
        return hold
    }
}
