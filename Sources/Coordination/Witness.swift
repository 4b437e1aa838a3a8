public import CoreAPI
internal import Synchronization

/// An observer of running cores that is independent of the order of commits.
///
/// The order of commits records one owner at a time, so it cannot show two running cores. The witness can: each core
/// registers when it starts, and then learns which other cores run.
///
/// Source: contract C15.
public protocol Witness: Sendable {
    /// Registers that the core of an epoch runs from now on.
    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold
}

/// The registration of a running core with a witness. It lasts until ``end()``, or until the process ends.
public protocol WitnessHold: Sendable {
    /// The epochs of the other cores that ran when this one began, in rising order.
    ///
    /// Of two cores, the one that began first may not list the other; the one that began second does.
    var others: [Revision] { get }

    /// Returns the epochs of the other cores that run now. A process that was just killed may be listed until the
    /// system has closed its files; a core that really runs is also listed at the next call.
    func currentOthers() throws(SharedCoreError) -> [Revision]

    /// Removes the registration: the core has stopped. May be called more than once.
    func end()
}

/// The witness for cores of one process.
public final class MemoryWitness: Witness {
    /// The number of running cores of each epoch. One core of one epoch is expected, but the witness does not rely on
    /// it.
    private let running = Mutex<[Revision: Int]>([:])

    public init() {}

    public func begin(epoch: Revision) -> any WitnessHold {
        let others = running.withLock { running in
            defer { running[epoch, default: 0] += 1 }
            return Self.sorted(running)
        }
        return MemoryWitnessHold(of: epoch, others: others, in: self)
    }

    /// Returns the epochs of the cores that run, but for one of `epoch`.
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
