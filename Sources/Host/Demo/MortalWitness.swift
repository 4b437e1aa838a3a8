internal import Coordination
internal import CoreAPI
internal import Synchronization

/// A witness as one simulated process has it: what it holds ends with its death, as the kernel ends a process's locks.
final class MortalWitness: Witness {
    private let witness: MemoryWitness
    private let holds = Mutex<[any WitnessHold]>([])

    init(_ witness: MemoryWitness) {
        self.witness = witness
    }

    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        let hold = witness.begin(epoch: epoch)
        holds.withLock { $0.append(hold) }
        return hold
    }

    /// The process dies.
    func die() {
        let holds = holds.withLock { $0 }
        for hold in holds { hold.end() }
    }
}
