public import CoreAPI
internal import Synchronization

/// An observer of cores that knows nothing of the order of commits: it sees what really runs.
///
/// The order cannot show two owners at once, because it could not record them. The witness can: each core tells it
/// when it starts, and learns then which other cores run.
///
/// Source: contract C15.
public protocol Witness: Sendable {
    /// Says that the core of an epoch runs from now on.
    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold
}

/// A running core, as a witness knows it. It lasts until ``end()``, or until the process dies.
public protocol WitnessHold: Sendable {
    /// The epochs of the other cores that ran when this one began, in rising order.
    ///
    /// The core that began first may not have seen the other; the one that began second has.
    var others: [Revision] { get }

    /// The epochs of the other cores that run now. A process that was just killed may show for the moment that the
    /// system takes to close its files; a core that really runs shows in the next look too.
    func currentOthers() throws(SharedCoreError) -> [Revision]

    /// Says that the core has stopped. Idempotent.
    func end()
}

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
