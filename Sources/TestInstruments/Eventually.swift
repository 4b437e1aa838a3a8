/// Waits until a condition holds.
///
/// The condition is looked at again and again, with pauses that grow from 1 to 20 ms, so it must be cheap and have no
/// effect.
///
/// - Throws: ``ConditionNotMet`` when it does not hold within `limit`, and whatever the condition throws.
public func eventually(
    _ expectation: @autoclosure () -> String, within limit: Duration = Patience.usual,
    _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now.advanced(by: limit)
    var pause = Duration.milliseconds(1)
    while try await !condition() {
        guard clock.now < deadline else { throw ConditionNotMet(expectation: expectation(), limit: limit) }
        try await clock.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}
