internal import CoreAPI
internal import Synchronization

/// A core of this process that runs.
final class MemoryWitnessHold: WitnessHold {
    let others: [Revision]
    private let epoch: Revision
    private let witness: MemoryWitness
    private let hasEnded = Atomic(false)

    init(of epoch: Revision, others: [Revision], in witness: MemoryWitness) {
        self.epoch = epoch
        self.others = others
        self.witness = witness
    }

    deinit {
        end()
    }

    func look() -> [Revision] {
        witness.look(besides: hasEnded.load(ordering: .acquiring) ? nil : epoch)
    }

    func end() {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { witness.end(epoch: epoch) }
    }
}
