internal import CoreAPI
internal import Synchronization

/// Runs a body in several tasks that start together, and gives their results in the order of their numbers.
package func together<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
    let start = Promise<Void>()
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

/// A value that several tasks of a test write and read.
package final class Box<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    package init(_ value: Value) {
        content = Mutex(value)
    }

    /// The present value.
    package var value: Value { content.withLock { $0 } }

    /// Changes the value in place.
    @discardableResult
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        content.withLock { value in change(&value) }
    }
}
