/// What never ends by itself: waits until its task is cancelled, which it says by an error.
package func untilCancelled() async throws {
    while true { try await Task.sleep(for: .seconds(3600)) }
}
