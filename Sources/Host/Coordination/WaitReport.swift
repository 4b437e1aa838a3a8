internal import Coordination
internal import Logging
internal import ProgramOutput

extension CommandContext {
    /// Tells people on standard error what a participant waits for; nil where they want to hear only what is wrong.
    func waitReport() -> (@Sendable (OwnershipWait) -> Void)? {
        guard logger.logLevel <= .notice else { return nil }
        let (waits, continuation) = AsyncStream.makeStream(of: OwnershipWait.self)
        // A task of its own, because a terminal that takes nothing blocks.
        Task.detached {
            for await wait in waits {
                StandardError.write("sharedcore: \(ValueText.oneLine(wait.describe()))")
            }
        }
        return { continuation.yield($0) }
    }
}
