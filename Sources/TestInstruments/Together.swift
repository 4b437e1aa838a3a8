internal import Synchronization

/// Runs a body in several tasks that start together, and gives their results in the order of their numbers.
package func together<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
    let start = Latch()
    return try await withThrowingTaskGroup(of: (Int, Result).self) { tasks in
        for number in 0..<count {
            tasks.addTask {
                await start.pass()
                return (number, try await body(number))
            }
        }
        start.open()
        var results: [Int: Result] = [:]
        for try await (number, result) in tasks { results[number] = result }
        return (0..<count).compactMap { results[$0] }
    }
}

/// A gate that many tasks wait at until a test opens it, so that they start together.
package final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// How many tasks wait.
    package var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Lets all tasks through, now and from now on.
    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when the gate is open.
    package func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// A value that several tasks of a test write and read.
package final class Box<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    package init(_ value: Value) {
        content = Mutex(value)
    }

    /// The value as it stands.
    package var value: Value { content.withLock { $0 } }

    /// Changes the value in place.
    @discardableResult
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        content.withLock { value in change(&value) }
    }
}
