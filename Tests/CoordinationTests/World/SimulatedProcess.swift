import CoreAPI
import InMemoryBackend
import Synchronization

/// A process of the tests: it can be killed and stopped, with the participant and the core in it.
final class SimulatedProcess: Sendable {
    let identity: ProcessIdentity
    private let group = Mutex<MemoryGroup?>(nil)
    private let dead = Mutex(false)

    init(_ identity: ProcessIdentity) {
        self.identity = identity
    }

    var isDead: Bool { dead.withLock { $0 } }

    func attach(_ handle: MemoryGroup) {
        group.withLock { $0 = handle }
    }

    func kill() {
        dead.withLock { $0 = true }
        group.withLock { $0 }?.simulateKill()
    }

    func stop() {
        group.withLock { $0 }?.simulateStop()
    }

    func `continue`() {
        group.withLock { $0 }?.simulateContinue()
    }
}
