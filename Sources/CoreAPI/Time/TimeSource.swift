/// The clock that a group lives by: a parameter, so that tests decide what time it is.
public protocol TimeSource: Sendable {
    /// The run of the machine that ``now()`` counts in.
    var bootID: BootID { get }

    /// The present instant. Never goes back within a run.
    func now() -> BootInstant

    /// Returns at `instant` or soon after it, never before.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(until instant: BootInstant) async throws(CancellationError)
}
