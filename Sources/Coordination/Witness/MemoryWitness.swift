public import CoreAPI
internal import Synchronization

/// The witness for cores of one process.
public final class MemoryWitness: Witness {
    /// How many cores of each epoch run. There should be one of one epoch; a witness presumes nothing.
    private let running = Mutex<[Revision: Int]>([:])

    public init() {}

    public func begin(epoch: Revision) -> any WitnessHold {
        let others = running.withLock { running in
            defer { running[epoch, default: 0] += 1 }
            return Self.sorted(running)
        }
        return MemoryWitnessHold(of: epoch, others: others, in: self)
    }

    /// The epochs of the cores that run, but for one of `epoch`.
    func look(besides epoch: Revision?) -> [Revision] {
        running.withLock { running in
            var others = running
            if let epoch { others[epoch, default: 1] -= 1 }
            return Self.sorted(others)
        }
    }

    func end(epoch: Revision) {
        running.withLock { running in
            running[epoch, default: 1] -= 1
            if running[epoch] == 0 { running[epoch] = nil }
        }
    }

    private static func sorted(_ running: [Revision: Int]) -> [Revision] {
        running.filter { $0.value > 0 }.keys.sorted()
    }
}

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

    func currentOthers() -> [Revision] {
        witness.look(besides: hasEnded.load(ordering: .acquiring) ? nil : epoch)
    }

    func end() {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { witness.end(epoch: epoch) }
    }
}
