internal import CoreAPI
internal import Mailboxes
internal import Synchronization

/// One request for a message: the state that the caller shares with the task that serves it. The caller gets an answer
/// that comes before it gives up; a later answer is dropped.
final class MessageCall: Sendable {
    private enum State {
        case open
        case settled(Result<MessageResult, CoordinationError>)
        case givenUp
    }

    let id: MessageID
    let deadline: BootInstant
    /// True if the core must run in this participant.
    let insisting: Bool
    let number: Int
    /// Wakes the task that serves.
    let serverEvent = AsyncEvent()
    /// Wakes the caller.
    let callerEvent = AsyncEvent()
    private let state = Mutex(State.open)
    /// When the store last answered a read of the call's message.
    private let lastLook = Mutex<BootInstant?>(nil)

    init(for id: MessageID, before deadline: BootInstant, insisting: Bool, as number: Int) {
        self.id = id
        self.deadline = deadline
        self.insisting = insisting
        self.number = number
    }

    /// Notes that the store has answered.
    func noteLook(at instant: BootInstant) { lastLook.withLock { $0 = instant } }

    /// Returns true if the store has answered no longer than `duration` before the deadline.
    func hasLooked(within duration: Duration) -> Bool {
        lastLook.withLock { $0.map { $0.advanced(by: duration) >= deadline } ?? false }
    }

    /// True if there is an answer.
    var isSettled: Bool { state.withLock { if case .settled = $0 { true } else { false } } }

    /// True if the caller no longer waits.
    var isOver: Bool { state.withLock { if case .givenUp = $0 { true } else { false } } }

    /// Answers the call. Returns true if the caller was still waiting.
    func settle(_ result: Result<MessageResult, CoordinationError>) -> Bool {
        let isOpen = state.withLock { state in
            guard case .open = state else { return false }
            state = .settled(result)
            return true
        }
        callerEvent.signal()
        return isOpen
    }

    /// Ends the wait. Returns the answer if it has come.
    func giveUp() -> Result<MessageResult, CoordinationError>? {
        let result: Result<MessageResult, CoordinationError>? = state.withLock { state in
            if case .settled(let result) = state { return result }
            state = .givenUp
            return nil
        }
        serverEvent.signal()
        return result
    }
}
