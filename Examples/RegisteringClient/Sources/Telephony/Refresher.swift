internal import Lifecycle

/// The handler that the keep-alive calls: it wakes the machine, and is done when the machine is.
struct Refresher: KeepAliveHandler {
    let runner: ConnectivityRunner

    func keepAlive(_ run: KeepAliveRun) async throws {
        // Registrations that traffic has just proved alive, or that last until the next time, need no wake.
        if run.toRefresh.isEmpty, !run.provenAlive.isEmpty, await runner.isSubscribed { return }
        await runner.handle(.keepAlive)
        await runner.settle()
    }
}
