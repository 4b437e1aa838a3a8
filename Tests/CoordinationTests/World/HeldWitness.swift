import Coordination
import CoreAPI
import CoreAPITesting
import TestSupport

/// A witness in front of another that holds up each core on its way, as a stop of its process just there would.
struct HeldWitness: Witness {
    let witness: any Witness
    /// Whether a core has come.
    let hasCome = Box(false)
    /// Lets it go on.
    let mayGoOn = Box(false)

    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        hasCome.update { $0 = true }
        // A stopped process holds up its threads, so this one is held up and not its task.
        // Not for ever: a test that has failed lets nobody go on.
        waitOnThread(atMost: .seconds(60)) { mayGoOn.value }
        return try witness.begin(epoch: epoch)
    }
}
