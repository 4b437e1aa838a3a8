package import CoreAPI
package import Replica
package import StoreEngine

/// The order of a group in memory, for a hub to stand in front of. It is gone with the last who has it.
package final class MemoryOrder: LocalOrder {
    package let capabilities: Capabilities
    package let clock: any TimeSource
    package var replica: Replica { store.replica }
    package var incarnation: UInt64 { store.incarnation }

    private let store: MemoryStore

    init(store: MemoryStore, capabilities: Capabilities, clock: any TimeSource) {
        self.store = store
        self.capabilities = capabilities
        self.clock = clock
    }

    package func refresh() async throws(SharedCoreError) {
        store.expire()
    }

    package func record(_ request: OrderRequest) async throws(SharedCoreError) -> Recorded {
        Recorded(outcome: try store.record(request))
    }

    /// The participants of this process end their sessions themselves.
    package func endDead() async throws(SharedCoreError) {}
}
