/// What a test waited for did not come, however much time was let pass.
public struct SimulationStalled: Error, CustomStringConvertible {
    /// What was waited for.
    public let expectation: String
    /// How much of the group's time passed.
    public let timePassed: Duration
    /// Whether time could have gone on; if not, everybody waits for what only the test or the world outside can do.
    public let wasLimit: Bool
    /// What happened to the ownership, in sentences.
    public let timeline: String

    public var description: String {
        let reason = wasLimit ? "" : ", and nobody sleeps: every process waits for the test or for the world outside"
        return "This did not happen within \(timePassed) of the group's time\(reason): \(expectation)\n\(timeline)"
    }
}
