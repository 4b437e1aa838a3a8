public import Coordination
public import CoreAPI
internal import Synchronization

/// The server side of scripted cores: it keeps each message until a core has acknowledged it.
public final class ScriptedServer: Sendable {
    private struct State {
        var pending: [InboxMessage] = []
        var acknowledged: [CallID] = []
        var waiting: [WaitID: CheckedContinuation<Void, Never>] = [:]
        var version = 0
    }

    private let thread: SimulationThread?
    private let state = Mutex(State())

    public convenience init() {
        self.init(on: nil)
    }

    /// Makes a server without messages.
    ///
    /// - Parameter thread: The thread on which it wakes all waiting cores before the first of them runs.
    init(on thread: SimulationThread?) {
        self.thread = thread
    }

    /// The messages that no core has acknowledged.
    public var pending: [InboxMessage] { state.withLock(\.pending) }

    /// The call-ids that were acknowledged, in their order.
    public var acknowledged: [CallID] { state.withLock(\.acknowledged) }

    /// The number of messages that came.
    public var version: Int { state.withLock(\.version) }

    /// Adds a message, as if it came from the network.
    public func receive(_ message: InboxMessage) {
        let waiting = state.withLock { state in
            state.pending.append(message)
            state.version += 1
            defer { state.waiting = [:] }
            return state.waiting
        }
        // The cores are woken in the order in which they began to wait, so that every run is the same.
        let wake = { @Sendable in
            for (_, continuation) in waiting.sorted(by: { $0.key < $1.key }) { continuation.resume() }
        }
        if let thread { thread.submit(wake) } else { wake() }
    }

    /// Adds a text message, as if it came from the network.
    ///
    /// - Throws: `SharedCoreError.Code.invalidArgument` for an empty call-id.
    public func receive(
        _ text: String, as callID: String, from sender: String = "somebody", to recipient: String = "me"
    ) throws(SharedCoreError) {
        receive(
            InboxMessage(
                callID: try CallID(checking: callID), content: .text(from: sender, to: recipient, text: text)))
    }

    /// Records that a core has stored a message.
    public func acknowledge(_ callID: CallID) {
        state.withLock { state in
            state.pending.removeAll { $0.callID == callID }
            state.acknowledged.append(callID)
        }
    }

    /// Returns when there is more than there was at `version`, or when the task is cancelled.
    public func waitForUpdate(after version: Int) async {
        let id = WaitID()
        await withCancellableContinuation(cancelled: ()) { continuation in
            state.withLock { state in
                if state.version > version { return () }
                state.waiting[id] = continuation
                return nil
            }
        } leave: {
            state.withLock { $0.waiting.removeValue(forKey: id) }
        }
    }
}

extension CallID {
    /// Makes a call-id, or throws where ``CallID/init(_:)`` returns nil.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an empty text.
    init(checking text: String) throws(SharedCoreError) {
        guard let callID = CallID(text) else {
            throw SharedCoreError(.invalidArgument, "A call-id is any text but the empty one.", at: "test")
        }
        self = callID
    }
}
