/// What is called once in each interval of the keep-alive: reconnects and refreshes.
///
/// Source: contract P4.
public protocol KeepAliveHandler: Sendable {
    /// Refreshes what has to be refreshed, within the time that the run says. Returns promptly when its task is
    /// cancelled: its time is over.
    func keepAlive(_ run: KeepAliveRun) async throws

    /// Is told that the time of a run is nearly over. Returns at once.
    func timeIsNearlyOver(_ run: KeepAliveRun)
}

extension KeepAliveHandler {
    /// Does nothing.
    public func timeIsNearlyOver(_ run: KeepAliveRun) {}
}
