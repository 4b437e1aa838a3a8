internal import Coordination
internal import Logging
internal import ProgramOutput

extension CommandContext {
    /// Tells people on standard error what a participant waits for while `body` runs; nothing where they want to hear only
    /// what is wrong.
    ///
    /// Returns when all has been told.
    func reportingWaits<Value>(
        _ body: ((@Sendable (OwnershipWait) -> Void)?) async throws -> Value
    ) async rethrows -> Value {
        guard logger.logLevel <= .notice else { return try await body(nil) }
        let (waits, continuation) = AsyncStream.makeStream(of: OwnershipWait.self)
        // A task of its own, because a terminal that takes nothing blocks.
        let told = Task.detached {
            for await wait in waits {
                StandardError.write("sharedcore: \(ValueText.oneLine(wait.describe()))")
            }
        }
        do {
            let value = try await body { wait in
                // That its own core takes a moment to start is nothing to wait for.
                if wait != .coreStart { continuation.yield(wait) }
            }
            continuation.finish()
            await told.value
            return value
        } catch {
            continuation.finish()
            await told.value
            throw error
        }
    }
}
