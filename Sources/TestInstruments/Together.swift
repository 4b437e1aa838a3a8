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
