internal import Lifecycle

/// What the keep-alive calls: it wakes the machine, and is done when the machine is.
struct Refresher: KeepAliveHandler {
    let runner: ConnectivityRunner

    func keepAlive(_ run: KeepAliveRun) async throws {
        // What traffic has just proved alive, and what lasts until the next time, needs no wake.
        if run.toRefresh.isEmpty, !run.provenAlive.isEmpty, await runner.isSubscribed { return }
        await runner.handle(.keepAlive)
        await runner.settle()
    }
}
