internal import Synchronization

/// The first of several results.
final class OneResult<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Result<Value, any Error>, Never>)
        case set(Result<Value, any Error>)
    }

    private let state = Mutex(State.empty)

    func set(_ result: Result<Value, any Error>) {
        let waiter: CheckedContinuation<Result<Value, any Error>, Never>? = state.withLock { state in
            switch state {
            case .empty:
                state = .set(result)
                return nil
            case .waiting(let continuation):
                state = .set(result)
                return continuation
            case .set:
                return nil
            }
        }
        waiter?.resume(returning: result)
    }

    func value() async -> Result<Value, any Error> {
        await withCheckedContinuation { continuation in
            let present: Result<Value, any Error>? = state.withLock { state in
                if case .set(let result) = state { return result }
                state = .waiting(continuation)
                return nil
            }
            if let present { continuation.resume(returning: present) }
        }
    }
}
