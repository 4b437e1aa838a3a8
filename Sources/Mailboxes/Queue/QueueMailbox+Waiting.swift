public import CoreAPI

extension QueueMailbox {
    /// Begins to take messages, waiting where there is none.
    ///
    /// Returns armed: a message that is sent after this call has returned wakes the one who waits.
    public func deliveries() async throws(SharedCoreError) -> QueueDeliveries {
        QueueDeliveries(of: self, watch: try await watch(from: .snapshot))
    }

    /// Begins to deliver every change of the queue: messages, takes and acknowledgements, as they stand in the store.
    public func watch(from start: WatchStart = .snapshot) async throws(SharedCoreError) -> Watch {
        try await store.watch([keys.prefix], from: start)
    }
}
