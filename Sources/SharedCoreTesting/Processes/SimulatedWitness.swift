internal import Coordination
internal import CoreAPI
internal import TestInstruments

/// The group's witness as one process has it: what a killed process held is given back, as the system does.
struct SimulatedWitness: Witness {
    let witness: MemoryWitness
    let life: SimulatedLife

    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        let hold = witness.begin(epoch: epoch)
        life.atEnd { hold.end() }
        return hold
    }
}
