internal import CoreAPI
internal import Synchronization

/// The witness's hold of one run of a core; nothing where there is no witness.
final class WitnessedRun: Sendable {
    private let witness: (any Witness)?
    private let hold = Mutex<(any WitnessHold)?>(nil)

    init(by witness: (any Witness)?) {
        self.witness = witness
    }

    /// Says that the core runs. Gives the epochs of others that do.
    func begin(_ epoch: Revision) throws(SharedCoreError) -> [Revision] {
        guard let witness else { return [] }
        let begun = try witness.begin(epoch: epoch)
        hold.withLock { $0 = begun }
        return begun.others
    }

    /// The epochs of others that run now.
    func look() throws(SharedCoreError) -> [Revision] {
        try hold.withLock { $0 }?.look() ?? []
    }

    /// Says that the core has stopped.
    func end() {
        let held = hold.withLock { hold in
            defer { hold = nil }
            return hold
        }
        held?.end()
    }
}
