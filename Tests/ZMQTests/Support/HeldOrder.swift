internal import CoreAPI
internal import InMemoryBackend
internal import Replica
internal import StoreEngine
internal import Synchronization

/// An order in memory that can hold requests back, as a slow disk does, and refuse content, as a full disk does.
final class HeldOrder: LocalOrder {
    private struct State {
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isFull = false
        var canRegain = false
        var mustMakeRoom = false
    }

    private let order: MemoryOrder
    private let state = Mutex(State())
    private let isDurableLater: Bool
    private let onRefresh: @Sendable () -> Void

    /// - Parameters:
    ///   - isDurableLater: True if an outcome becomes durable on another thread, after it was recorded.
    ///   - onRefresh: Is called for each read, on the thread that acts for the hub.
    init(_ order: MemoryOrder, isDurableLater: Bool = false, onRefresh: @escaping @Sendable () -> Void = {}) {
        self.order = order
        self.isDurableLater = isDurableLater
        self.onRefresh = onRefresh
    }

    var capabilities: Capabilities { order.capabilities }
    var incarnation: UInt64 { order.incarnation }
    var clock: any TimeSource { order.clock }
    var replica: Replica { order.replica }

    /// The number of waiting requests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func hold() { state.withLock { $0.isHeld = true } }

    func letGo() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Continues the held requests, and none that come later.
    func letThrough() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Refuses content until a compaction has freed space.
    ///
    /// - Parameters:
    ///   - canRegain: True if a compaction frees some space.
    ///   - mustMakeRoom: True if content has to wait for a compaction first, which frees none.
    func fill(canRegain: Bool, mustMakeRoom: Bool) {
        state.withLock {
            $0.isFull = true
            $0.canRegain = canRegain
            $0.mustMakeRoom = mustMakeRoom
        }
    }

    func room(for transaction: Transaction) -> OrderRoom? {
        let make: @Sendable () async -> Void = {}
        return OrderRoom(make: state.withLock { $0.mustMakeRoom } ? make : nil) {
            self.state.withLock { state in
                if state.canRegain { state.isFull = false }
                return state.canRegain
            }
        }
    }

    func refresh() async throws(SharedCoreError) {
        onRefresh()
        try await order.refresh()
    }

    func record(_ request: OrderRequest) async throws(SharedCoreError) -> Recorded {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        if case .commit = request, state.withLock({ $0.isFull }) {
            throw SharedCoreError(.storageFull, "There is no space left for what was to be written.", at: "group")
        }
        let recorded = try await order.record(request)
        guard isDurableLater, case .commit = request else { return recorded }
        return Recorded(outcome: recorded.outcome) { await Task.detached {}.value }
    }

    func endDead() async throws(SharedCoreError) { try await order.endDead() }
}
