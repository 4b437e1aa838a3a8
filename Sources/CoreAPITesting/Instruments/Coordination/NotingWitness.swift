internal import Coordination
package import CoreAPI

/// The witness of a case's cores: locks of a file. It also records its observations outside of the store, so that a
/// case need not rely on the timeline.
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
        // Recorded before the lock is taken, so that a process that sees the lock finds the core's record.
        server.noteCore(of: epoch)
        let hold = try locks.begin(epoch: epoch)
        life.atEnd { hold.end() }
        // A process that ends keeps its locks until the system has closed its files. Make this check now: a core that
        // really runs beside this one may be killed later.
        for other in hold.others where !server.isEnding(other) {
            server.note(OverlapSight(epoch: epoch, other: other))
        }
        return hold
    }
}

/// The observation of a core that another one ran when it began.
package struct OverlapSight: Hashable, Sendable {
    /// The epoch of the core that began.
    package let epoch: Revision
    /// The epoch of the core that was running.
    package let other: Revision

    package init(epoch: Revision, other: Revision) {
        self.epoch = epoch
        self.other = other
    }

    /// Returns nil for a text of another form.
    init?(_ text: String) {
        let numbers = text.split(separator: "-").compactMap { UInt64($0) }
        guard numbers.count == 2 else { return nil }
        self.init(epoch: Revision(rawValue: numbers[0]), other: Revision(rawValue: numbers[1]))
    }

    var text: String { "\(epoch.rawValue)-\(other.rawValue)" }
}
